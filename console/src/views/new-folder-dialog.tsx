// The dialog that opens a new folder. The service stores no folders, only paths of files.

import { useSignal } from '@preact/signals';
import { texts } from '../language.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { go } from '../route.ts';
import type { Target } from './drop-area.tsx';

export function NewFolderDialog({ target, onClose }: { target: Target; onClose(): void }) {
  const { bucket, prefix } = target;
  const { newFolder: words, page } = texts();
  const name = useSignal('');
  const submit = (event: Event) => {
    event.preventDefault();
    const segments = name.value.split('/').map((segment) => segment.trim());
    const folder = segments.filter((segment) => segment !== '').join('/');
    onClose();
    if (folder !== '') go({ view: 'files', bucket, prefix: `${prefix}${folder}/` });
  };
  return (
    <Dialog title={words.title} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label={words.name} value={name} isFirst isRequired hint={words.hint} />
        <div class="buttons">
          <button type="submit" class="main">
            {words.open}
          </button>
          <button type="button" onClick={onClose}>
            {page.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
