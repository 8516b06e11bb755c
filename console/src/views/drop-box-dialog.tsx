// The dialog that creates a drop box for a folder.

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
        People with the address can send files to this folder without signing in. They do not see
        the stored files.
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
      'The address is shown only once: copy it now. It works until it expires or until you ' +
      `revoke the key “${name.value.trim()}” under About the bucket.`;
    return <MadeAddress url={url.value} what="the address" words={words} />;
  }
  return (
    <form onSubmit={make}>
      <Field label="Folder" value={folder} isFirst isRequired />
      <Field
        label="Name of the key"
        value={name}
        isRequired
        hint="To find the key again when you want to revoke it."
      />
      <ExpirySelect days={days} />
      <Failure text={failure.value} />
      <button type="submit" class="main" disabled={isUnderWay.value}>
        {isUnderWay.value ? 'Creating the address …' : 'Create the address'}
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
