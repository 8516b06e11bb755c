// Opens another bucket of a key, or creates a bucket with an identity.

import { useSignal } from '@preact/signals';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { BucketOptions } from '../../../packages/client/src/types/buckets.ts';
import { Checkbox } from '../parts/checkbox.tsx';
import { CopyText } from '../parts/copy-text.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import { go } from '../route.ts';
import { addBucket, type Session } from '../session.ts';

const keptDays = 30;

interface Props {
  readonly session: Session;
  onAdded(): void;
}

export function AddBucket({ session, onAdded }: Props) {
  const isOpen = useSignal(false);
  const label = session.kind === 'key' ? 'Open another bucket' : 'Create a bucket';
  return (
    <p>
      <button
        type="button"
        class="main"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        {label}
      </button>
      {isOpen.value && (
        <Dialog
          title={label}
          onClose={() => {
            isOpen.value = false;
          }}
        >
          <BucketForm session={session} label={label} onAdded={onAdded} />
        </Dialog>
      )}
    </p>
  );
}

function BucketForm({ session, label, onAdded }: Props & { label: string }) {
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
          throw new Error('You may not create buckets here.', { cause: error });
        });
      }
      onAdded();
      go({ view: 'files', bucket: id, prefix: '' });
    });
  };
  return (
    <form onSubmit={submit}>
      <Field
        label="Name of the bucket"
        value={name}
        isFirst
        isRequired
        hint="1 to 64 letters, digits and hyphens, such as holiday-photos."
      />
      {session.kind !== 'key' && (
        <>
          <Checkbox
            label={`Keep deleted and replaced files for ${keptDays} days`}
            value={keepsFormer}
          />
          <Checkbox label="Everybody may read its files" value={isPublic} />
          {session.publishRecipient && (
            <Checkbox
              label="End-to-end: files are encrypted before they are sent"
              value={isEndToEnd}
            />
          )}
          {isEndToEnd.value && (
            <Checkbox label="Also encrypt the names of files" value={sealsNames} />
          )}
        </>
      )}
      <Failure text={failure.value} />
      {isRightMissing.value && (
        <>
          <p>A controller of the canister can allow it with this command:</p>
          <CopyText text={`efs access allow ${session.principal}`} label="the command" />
        </>
      )}
      <button type="submit" class="main" disabled={isUnderWay.value}>
        {isUnderWay.value ? 'One moment …' : label}
      </button>
    </form>
  );
}

async function create(session: Session, id: string, options: BucketOptions): Promise<void> {
  await session.storage.buckets.create(id, options);
  // Without a published recipient, nobody could upload files before an owner does.
  if (options.endToEnd !== undefined) await session.publishRecipient?.(id);
}
