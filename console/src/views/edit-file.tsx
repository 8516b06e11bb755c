// Edits a file's type, tags and headers; its bytes do not change.

import { useSignal } from '@preact/signals';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import type { Session } from '../session.ts';

interface EditProps {
  readonly session: Session;
  readonly file: FileRecord;
  onChanged(file: FileRecord): void;
}

export function EditFile(props: EditProps) {
  const { editing } = texts();
  const isOpen = useSignal(false);
  const close = () => {
    isOpen.value = false;
  };
  return (
    <p>
      <button
        type="button"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        {editing.open}
      </button>
      {isOpen.value && (
        <Dialog title={editing.title} onClose={close}>
          <EditForm {...props} onClose={close} />
        </Dialog>
      )}
    </p>
  );
}

function EditForm({ session, file, onChanged, onClose }: EditProps & { onClose(): void }) {
  const { editing: words } = texts();
  const contentType = useSignal(file.contentType);
  const tags = useSignal(file.tags.join(', '));
  const cacheControl = useSignal('');
  const { isUnderWay, failure, run } = useTask();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const { bucketId: bucket, path, etag } = file;
      const cache = cacheControl.value.trim();
      const changed = await session.storage.change(
        { bucket, path },
        {
          contentType: contentType.value.trim(),
          tags: tags.value
            .split(',')
            .map((tag) => tag.trim())
            .filter((tag) => tag !== ''),
          // Headers are replaced as a whole, because records do not contain the current ones.
          ...(cache !== '' && { headers: { 'Cache-Control': cache } }),
          ifMatch: etag,
        },
      );
      onChanged(changed);
      onClose();
      tell(texts().page.saved);
    });
  };
  const fields = [
    { label: words.type, value: contentType, hint: words.typeHint },
    { label: words.tags, value: tags, hint: words.tagsHint },
    { label: 'Cache-Control', value: cacheControl, hint: words.cacheHint },
  ];
  return (
    <form onSubmit={submit}>
      {fields.map(({ label, value, hint }, index) => (
        <Field key={label} label={label} value={value} hint={hint} isFirst={index === 0} />
      ))}
      <Failure text={failure.value} />
      <button type="submit" class="main" disabled={isUnderWay.value}>
        {isUnderWay.value ? words.saving : words.save}
      </button>
    </form>
  );
}
