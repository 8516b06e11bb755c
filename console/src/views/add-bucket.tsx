// The button that opens another bucket of a key, or creates a bucket with an identity.

import { useSignal } from '@preact/signals';
import { texts } from '../language.ts';
import { deferred } from '../parts/deferred.tsx';
import type { Session } from '../session.ts';

const BucketDialog = deferred(async () => (await import('./bucket-dialog.tsx')).BucketDialog);

export function AddBucket({ session, onAdded }: { session: Session; onAdded(): void }) {
  const isOpen = useSignal(false);
  const { addBucket } = texts();
  const label = session.kind === 'key' ? addBucket.open : addBucket.create;
  const open = (next: boolean) => {
    isOpen.value = next;
  };
  return (
    <p>
      <button type="button" class="main" onClick={() => open(true)}>
        {label}
      </button>
      {isOpen.value && (
        <BucketDialog
          session={session}
          label={label}
          onAdded={onAdded}
          onClose={() => open(false)}
        />
      )}
    </p>
  );
}
