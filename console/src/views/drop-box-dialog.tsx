// The dialogs that create a drop box for a folder, and a link to a folder.

import { useSignal } from '@preact/signals';
import { recordOf } from '../bucket-record.ts';
import { makeDropBox, makeFolderLink } from '../drop-box.ts';
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
      <AddressForm target={target} words={words} isDropBox />
    </Dialog>
  );
}

export function FolderLinkDialog({ target, onClose }: { target: Target; onClose(): void }) {
  const { folderLink: words } = texts();
  return (
    <Dialog title={words.title} onClose={onClose}>
      <p>{words.purpose}</p>
      <AddressForm target={target} words={words} isDropBox={false} />
    </Dialog>
  );
}

const positive = '[1-9][0-9]{0,8}';
const bytesPerMegabyte = 1_000_000;

interface AddressFormProps {
  readonly target: Target;
  readonly words: { keyOf(folder: string): string };
  readonly isDropBox: boolean;
}

function AddressForm({ target, words: own, isDropBox }: AddressFormProps) {
  const { session, bucket, prefix } = target;
  const { dropBoxDialog: words, copying } = texts();
  const folder = useSignal(prefix || (isDropBox ? `${words.inbox}/` : ''));
  const name = useSignal(own.keyOf(nameOf(prefix) || (isDropBox ? words.inbox : bucket)));
  const message = useSignal('');
  const files = useSignal('');
  const megabytes = useSignal('');
  const days = useSignal('7');
  const url = useSignal<string | undefined>(undefined);
  const { isUnderWay, failure, run } = useTask();
  const make = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      await prepare(target, isDropBox);
      const made = isDropBox ? makeDropBox : makeFolderLink;
      url.value = await made(session.storage, {
        bucket,
        folder: folderOf(folder.value),
        name: name.value.trim(),
        expiresAt: expiryAfter(days.value),
        message: message.value.trim(),
        maxFiles: Number(files.value) || undefined,
        maxFileBytes: Number(megabytes.value) * bytesPerMegabyte || undefined,
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
      <Field label={words.folder} value={folder} isFirst isRequired={isDropBox} />
      {isDropBox && (
        <>
          <Field label={words.message} value={message} />
          <Field label={words.files} value={files} digits={positive} />
          <Field label={words.megabytes} value={megabytes} digits={positive} />
        </>
      )}
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
  const path = text.trim().replace(/^\/+|\/+$/g, '');
  return path && `${path}/`;
}

/** Publishes a recipient if a drop box's bucket has none: senders encrypt to it. */
async function prepare({ session, bucket }: Target, isDropBox: boolean): Promise<void> {
  const { endToEnd } = await recordOf(session, bucket);
  if (!isDropBox && endToEnd) throw new Error(texts().folderLink.endToEnd);
  if (endToEnd?.sealsNames) throw new Error(texts().dropBoxDialog.sealsNames);
  if (endToEnd?.usesVetKeys) await session.publishRecipient?.(bucket);
}
