// The protection of a file: its retention and its legal hold, which owners of the bucket change.

import { useSignal } from '@preact/signals';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { RetentionMode } from '../../../packages/client/src/types/retention.ts';
import { isHeld } from '../files/held.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { ModeSelect } from '../parts/mode-select.tsx';
import { useTask } from '../parts/task.ts';
import { protectionWords } from '../rule-words.ts';
import type { Session } from '../session.ts';
import { dayMs } from '../words.ts';

interface ProtectionProps {
  readonly session: Session;
  readonly file: FileRecord;
  readonly isOwner: boolean;
  onChanged(file: FileRecord): void;
}

export function Protection(props: ProtectionProps) {
  const { file, isOwner } = props;
  const { protection: words } = texts();
  const shown = protectionWords(file.retention);
  if (shown === '' && !isOwner) return null;
  return (
    <section aria-labelledby="protection-title">
      <h2 id="protection-title">{words.title}</h2>
      <p>{shown || words.none}</p>
      {isOwner && <Changes {...props} />}
    </section>
  );
}

function Changes(props: ProtectionProps) {
  const { session, file, onChanged } = props;
  const { retention } = file;
  const { protection: words, page } = texts();
  const asked = useSignal<'retain' | 'end' | undefined>(undefined);
  const { isUnderWay, failure, run } = useTask();
  const isOnHold = retention?.hold === true;
  const changeHold = () =>
    run(async () => {
      const { bucketId: bucket, path } = file;
      const name = { bucket, path };
      const { hold, release } = session.storage.retention;
      onChanged(await (isOnHold ? release(name) : hold(name)));
      tell(page.saved);
    });
  const ask = (next: typeof asked.value) => {
    asked.value = next;
  };
  const isEndable = retention?.mode === 'governance' && isHeld({ ...retention, hold: false });
  return (
    <>
      <div class="buttons">
        <button type="button" disabled={isUnderWay.value} onClick={() => void changeHold()}>
          {isUnderWay.value ? page.changing : isOnHold ? words.release : words.hold}
        </button>
        <button type="button" onClick={() => ask('retain')}>
          {words.retain}
        </button>
        {isEndable && (
          <button type="button" class="danger" onClick={() => ask('end')}>
            {words.end}
          </button>
        )}
      </div>
      <Failure text={failure.value} />
      {asked.value === 'retain' && (
        <Dialog title={words.retainTitle} onClose={() => ask(undefined)}>
          <RetainForm {...props} onClose={() => ask(undefined)} />
        </Dialog>
      )}
      {asked.value === 'end' && <EndDialog {...props} onClose={() => ask(undefined)} />}
    </>
  );
}

function RetainForm({ session, file, onChanged, onClose }: ProtectionProps & { onClose(): void }) {
  const { protection: words, retention, page } = texts();
  const mode = useSignal<RetentionMode>(file.retention?.mode ?? 'governance');
  const days = useSignal('');
  const { isUnderWay, failure, run } = useTask();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const { bucketId: bucket, path } = file;
      const until = new Date(Date.now() + Number(days.value) * dayMs);
      const name = { bucket, path };
      onChanged(await session.storage.retention.set(name, { mode: mode.value, until }));
      tell(page.saved);
      onClose();
    });
  };
  return (
    <form onSubmit={submit}>
      <ModeSelect mode={mode} />
      <Field label={words.days} value={days} digits="[1-9][0-9]{0,4}" isRequired isFirst />
      <p class={mode.value === 'compliance' ? 'failure' : undefined}>
        {mode.value === 'compliance' ? retention.warnings.compliance : retention.meaning}
      </p>
      <Failure text={failure.value} />
      <div class="buttons">
        <button type="submit" class="main" disabled={isUnderWay.value}>
          {isUnderWay.value ? page.changing : words.retainLabel}
        </button>
        <button type="button" onClick={onClose}>
          {page.cancel}
        </button>
      </div>
    </form>
  );
}

function EndDialog({ session, file, onChanged, onClose }: ProtectionProps & { onClose(): void }) {
  const { protection: words, page } = texts();
  async function end(): Promise<void> {
    const { bucketId: bucket, path } = file;
    onChanged(await session.storage.retention.end({ bucket, path }, { bypassGovernance: true }));
    tell(page.saved);
    onClose();
  }
  return (
    <ConfirmDialog
      title={words.endTitle}
      label={words.end}
      underWay={page.changing}
      confirm={end}
      onClose={onClose}
    >
      {words.endMeans}
    </ConfirmDialog>
  );
}
