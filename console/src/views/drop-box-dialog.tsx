// Making a drop box for a folder.

import { useSignal } from '@preact/signals';
import { recordOf } from '../bucket-record.ts';
import { makeDropBox } from '../drop-box.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ExpirySelect, expiryAfter } from '../parts/expiry-select.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { MadeAddress } from '../parts/made-address.tsx';
import { useTask } from '../parts/task.ts';
import { nameOf } from '../words.ts';
import type { Target } from './drop-area.tsx';

export function DropBoxDialog({ target, onClose }: { target: Target; onClose(): void }) {
  return (
    <Dialog title="Receive files" onClose={onClose}>
      <p>
        People who have the address send files to this folder, without signing in, and see nothing
        of what is there.
      </p>
      <DropBoxForm target={target} />
    </Dialog>
  );
}

function DropBoxForm({ target }: { target: Target }) {
  const { session, bucket, prefix } = target;
  const folder = useSignal(prefix || 'inbox/');
  const name = useSignal(`Drop box ${nameOf(prefix || 'inbox/')}`);
  const days = useSignal('7');
  const url = useSignal<string | undefined>(undefined);
  const { isUnderWay, failure, run } = useTask();
  const make = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      await prepare(target);
      url.value = await makeDropBox(session.storage, {
        bucket,
        folder: folderOf(folder.value),
        name: name.value.trim(),
        expiresAt: expiryAfter(days.value),
      });
    });
  };
  if (url.value !== undefined) {
    const words =
      'The address is shown this once: copy it now. It ends when its time is over, or when you ' +
      `revoke the key “${name.value.trim()}” under About the bucket.`;
    return <MadeAddress url={url.value} what="the address" words={words} />;
  }
  return (
    <form onSubmit={make}>
      <Field label="Folder" value={folder} isFirst isRequired />
      <Field
        label="Name of its key"
        value={name}
        isRequired
        hint="By which you find it again to revoke it."
      />
      <ExpirySelect days={days} />
      <Failure text={failure.value} />
      <button type="submit" class="main" disabled={isUnderWay.value}>
        {isUnderWay.value ? 'Making the address …' : 'Make the address'}
      </button>
    </form>
  );
}

function folderOf(text: string): string {
  return `${text.trim().replace(/^\/+|\/+$/g, '')}/`;
}

/** Publishes a recipient if the bucket has none: senders encrypt to it. */
async function prepare({ session, bucket }: Target): Promise<void> {
  const { endToEnd } = await recordOf(session, bucket);
  if (endToEnd?.sealsNames) {
    throw new Error(
      'Only members can upload to a bucket that seals names. Create the drop box in another bucket.',
    );
  }
  if (endToEnd?.usesVetKeys) await session.publishRecipient?.(bucket);
}
