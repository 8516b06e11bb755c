// The dialog that creates a drop box for a folder.

import { useSignal } from '@preact/signals';
import { recordOf } from '../bucket-record.ts';
import { makeDropBox } from '../drop-box.ts';
import { texts } from '../language.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ExpirySelect, expiryAfter } from '../parts/expiry-select.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { MadeAddress } from '../parts/made-address.tsx';
import { useTask } from '../parts/task.ts';
import { nameOf } from '../words.ts';
import type { Target } from './drop-area.tsx';

export function DropBoxDialog({ target, onClose }: { target: Target; onClose(): void }) {
  const { dropBoxDialog: words } = texts();
  return (
    <Dialog title={words.title} onClose={onClose}>
      <p>{words.purpose}</p>
      <DropBoxForm target={target} />
    </Dialog>
  );
}

function DropBoxForm({ target }: { target: Target }) {
  const { session, bucket, prefix } = target;
  const { dropBoxDialog: words, copying } = texts();
  const folder = useSignal(prefix || `${words.inbox}/`);
  const name = useSignal(words.keyOf(nameOf(prefix) || words.inbox));
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
    return (
      <MadeAddress
        url={url.value}
        words={words.ready(name.value.trim())}
        label={copying.address}
        alt={copying.addressPicture}
      />
    );
  }
  return (
    <form onSubmit={make}>
      <Field label={words.folder} value={folder} isFirst isRequired />
      <Field label={words.key} value={name} isRequired hint={words.keyHint} />
      <ExpirySelect days={days} />
      <Failure text={failure.value} />
      <button type="submit" class="main" disabled={isUnderWay.value}>
        {isUnderWay.value ? words.creating : words.create}
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
  if (endToEnd?.sealsNames) throw new Error(texts().dropBoxDialog.sealsNames);
  if (endToEnd?.usesVetKeys) await session.publishRecipient?.(bucket);
}
