// Another bucket: by a key one that is there, by an identity a new one.

import { useSignal } from '@preact/signals';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { useTask } from '../parts/task.ts';
import { go } from '../route.ts';
import { addBucket, type Session } from '../session.ts';

interface Props {
  readonly session: Session;
  onAdded(): void;
}

export function AddBucket({ session, onAdded }: Props) {
  const isOpen = useSignal(false);
  const label = session.kind === 'key' ? 'Open another bucket' : 'Make a bucket';
  return (
    <p>
      <button
        type="button"
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
  const { isUnderWay, failure, run } = useTask();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const id = name.value.trim();
      if (session.kind === 'key') await addBucket(id);
      else await create(session, id, isPublic.value);
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
        hint="Small letters, digits, dots and hyphens, such as holiday-photos."
      />
      {session.kind !== 'key' && (
        <label class="check">
          <input
            type="checkbox"
            checked={isPublic.value}
            onChange={({ currentTarget }) => {
              isPublic.value = currentTarget.checked;
            }}
          />
          Everybody may read its files
        </label>
      )}
      <Failure text={failure.value} />
      <button type="submit" class="main" disabled={isUnderWay.value}>
        {isUnderWay.value ? 'One moment …' : label}
      </button>
    </form>
  );
}

async function create({ storage, principal }: Session, id: string, isPublic: boolean) {
  try {
    await storage.buckets.create(id, { isPublic });
  } catch (error) {
    if (!isStorageError(error, 'AccessDenied')) throw error;
    throw new Error(
      `You may not make buckets here. A controller of the canister lets you by: efs access allow ${principal}`,
    );
  }
}
