// The dialog that opens another bucket of a key, or creates a bucket with an identity.

import { useSignal } from '@preact/signals';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { BucketOptions } from '../../../packages/client/src/types/buckets.ts';
import { texts } from '../language.ts';
import { Checkbox } from '../parts/checkbox.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import { go } from '../route.ts';
import { addBucket, type Session } from '../session.ts';

const keptDays = 30;

interface BucketDialogProps {
  readonly session: Session;
  /** Says what the dialog does. */
  readonly label: string;
  onAdded(): void;
  onClose(): void;
}

export function BucketDialog({ onClose, ...props }: BucketDialogProps) {
  return (
    <Dialog title={props.label} onClose={onClose}>
      <BucketForm {...props} />
    </Dialog>
  );
}

function BucketForm({ session, label, onAdded }: Omit<BucketDialogProps, 'onClose'>) {
  const { addBucket: words } = texts();
  const name = useSignal('');
  const isPublic = useSignal(false);
  const keepsFormer = useSignal(true);
  const isEndToEnd = useSignal(false);
  const sealsNames = useSignal(false);
  const isRightMissing = useSignal(false);
  const { isUnderWay, failure, run } = useTask();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const id = name.value.trim();
      if (session.kind === 'key') await addBucket(id);
      else {
        isRightMissing.value = false;
        const endToEnd = isEndToEnd.value ? { sealsNames: sealsNames.value } : undefined;
        const keepVersionsDays = keepsFormer.value ? keptDays : 0;
        const options = { isPublic: isPublic.value, keepVersionsDays, endToEnd };
        await create(session, id, options).catch((error) => {
          if (!isStorageError(error, 'AccessDenied')) throw error;
          isRightMissing.value = true;
          throw new Error(texts().addBucket.noRight, { cause: error });
        });
      }
      onAdded();
      go({ view: 'files', bucket: id, prefix: '' });
    });
  };
  return (
    <form onSubmit={submit}>
      <Field label={words.name} value={name} isFirst isRequired hint={words.hint} />
      {session.kind !== 'key' && (
        <>
          <Checkbox label={words.keep(keptDays)} value={keepsFormer} />
          <Checkbox label={words.isPublic} value={isPublic} />
          {session.publishRecipient && <Checkbox label={words.endToEnd} value={isEndToEnd} />}
          {isEndToEnd.value && <Checkbox label={words.sealsNames} value={sealsNames} />}
        </>
      )}
      <Failure text={failure.value} />
      {isRightMissing.value && (
        <>
          <p>{words.command}</p>
          <CopyText
            text={`efs access allow ${session.principal}`}
            label={texts().copying.command}
          />
        </>
      )}
      <button type="submit" class="main" disabled={isUnderWay.value}>
        {isUnderWay.value ? texts().page.oneMoment : label}
      </button>
    </form>
  );
}

async function create(session: Session, id: string, options: BucketOptions): Promise<void> {
  await session.storage.buckets.create(id, options);
  // Without a published recipient, nobody could upload files before an owner does.
  if (options.endToEnd !== undefined) await session.publishRecipient?.(id);
}
