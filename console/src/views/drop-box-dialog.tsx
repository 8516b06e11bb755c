// The dialogs that create a drop box for a folder, and a link to a folder.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { SharedKeys } from '../../../packages/client/src/types/folder-links.ts';
import { recordOf } from '../bucket-record.ts';
import { makeDropBox } from '../drop-box.ts';
import { texts } from '../language.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ExpirySelect, expiryAfter } from '../parts/expiry-select.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { MadeAddress } from '../parts/made-address.tsx';
import { useTask } from '../parts/task.ts';
import { thisService } from '../service.ts';
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
  const { session, bucket } = target;
  const purpose = useSignal('');
  useEffect(() => {
    // Without the record, the creation fails with its reason
    recordOf(session, bucket).then(
      ({ endToEnd }) => {
        purpose.value = endToEnd ? words.sealedPurpose : words.purpose;
      },
      () => {},
    );
  }, []);
  return (
    <Dialog title={words.title} onClose={onClose}>
      <p>{purpose.value}</p>
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
  const defaultName = own.keyOf(nameOf(prefix) || (isDropBox ? words.inbox : bucket)).slice(0, 47);
  const name = useSignal(defaultName);
  const keys = useSignal<SharedKeys | undefined>(undefined);
  const message = useSignal('');
  const files = useSignal('');
  const megabytes = useSignal('');
  const days = useSignal('7');
  const url = useSignal<string | undefined>(undefined);
  const { isUnderWay, failure, run } = useTask();
  const make = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const { sealsNames } = (await prepare(target, isDropBox)) ?? {};
      const prefix = folderOf(folder.value);
      const common = { bucket, name: name.value.trim(), expiresAt: expiryAfter(days.value) };
      if (!isDropBox) {
        const { folderLinks, keys: own } = session.storage;
        // The service must not learn the folder's name.
        const given = sealsNames && name.value === defaultName ? undefined : common.name;
        const made = await folderLinks.create({ ...common, name: given, prefix });
        keys.value = made.keys;
        const isMade = ({ id }: { readonly id: string }) => id === made.id;
        if (!given) name.value = (await own.list(bucket)).find(isMade)?.name ?? made.id;
        url.value = `${location.origin}/${made.url.slice(made.url.indexOf('#'))}`;
        return;
      }
      url.value = await makeDropBox(session.storage, {
        ...common,
        folder: prefix,
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
        words={words.ready(name.value.trim()) + wordsOf(keys.value)}
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

/** Says how many files the link to a folder of an end-to-end bucket opens. */
function wordsOf(keys: SharedKeys | undefined): string {
  if (keys === undefined) return '';
  const { folderLink: words } = texts();
  const { fileCount, unreadable } = keys;
  const others = unreadable.length > 0 ? ` ${words.unreadable(unreadable.length)}` : '';
  return ` ${words.opens(fileCount)}${others}`;
}

function folderOf(text: string): string {
  const path = text.trim().replace(/^\/+|\/+$/g, '');
  return path && `${path}/`;
}

/**
 * Publishes a recipient if a drop box's bucket has none: senders encrypt to it. Returns the mode of
 * an end-to-end bucket.
 */
async function prepare({ session, bucket }: Target, isDropBox: boolean) {
  const { endToEnd } = await recordOf(session, bucket);
  if (!isDropBox && endToEnd && !(await thisService()).isAtFront) {
    throw new Error(texts().folderLink.needsFront);
  }
  if (isDropBox && endToEnd?.sealsNames) throw new Error(texts().dropBoxDialog.sealsNames);
  if (endToEnd?.usesVetKeys) await session.publishRecipient?.(bucket);
  return endToEnd;
}
