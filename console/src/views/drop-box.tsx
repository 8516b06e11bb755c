// The page of a drop box for its senders. It sends nothing while the bucket's recipients differ
// from those of the address, unless the sender accepts them.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { notEndToEnd } from '../../../packages/client/src/types/recipients-digest.ts';
import { recipientsOf } from '../drop-box.ts';
import { isPassing, sentenceOf } from '../failures.ts';
import { Failure } from '../parts/failure.tsx';
import { acceptRecipients, type DropBox, otherRecipients, type Session } from '../session.ts';
import { retryUpload, uploads } from '../uploads/queue.ts';
import { onStored } from '../uploads/stored.ts';
import { counted, nameOf } from '../words.ts';
import { DropArea, UploadButtons } from './drop-area.tsx';

const closed =
  'This drop box is closed: it has expired or was revoked. Ask the sender of the address for ' +
  'another one.';

export function DropBoxPage({ session, box }: { session: Session; box: DropBox }) {
  const { bucket, folder } = box;
  const recipients = useSignal<string | undefined>(undefined);
  const failure = useSignal<{ text: string; isPassing: boolean } | undefined>(undefined);
  async function look(): Promise<void> {
    failure.value = undefined;
    recipients.value = undefined;
    otherRecipients.value = undefined;
    try {
      const found = await recipientsOf(session, box);
      if (found !== (box.recipients ?? found)) otherRecipients.value = found;
      recipients.value = found;
    } catch (error) {
      const isClosed = isStorageError(error, 'InvalidApiKey');
      failure.value = {
        text: isClosed ? closed : sentenceOf(error),
        isPassing: isPassing(error),
      };
    }
  }
  // Another address in the same tab opens another storage.
  useEffect(() => void look(), [session.stored]);
  const accept = (accepted: string) => {
    acceptRecipients(accepted);
    recipients.value = accepted;
    otherRecipients.value = undefined;
    for (const item of uploads.value) if (item.state === 'failed') retryUpload(item);
  };
  const target = { session, bucket, prefix: folder };
  const { value: known } = recipients;
  const { value: other } = otherRecipients;
  const isOpen = known !== undefined && other === undefined;
  return (
    <DropArea target={target} isOff={!isOpen}>
      <div class="page">
        <h1 tabIndex={-1}>Send files</h1>
        <p>
          Files go to {folder ? `the folder “${nameOf(folder)}” of “${bucket}”` : `“${bucket}”`}.
          This page does not show stored files.
        </p>
        <Failure
          text={failure.value?.text}
          {...(failure.value?.isPassing && { onRetry: () => void look() })}
        />
        {failure.value === undefined && known === undefined && (
          <p class="waiting">Checking the drop box …</p>
        )}
        {other !== undefined && <Question box={box} other={other} onAccept={() => accept(other)} />}
        {isOpen && (
          <>
            <p>
              {known === notEndToEnd
                ? 'Files are stored encrypted, but whoever runs the service could read them.'
                : 'Files are encrypted on this device before they are sent; only their recipients can decrypt them.'}
            </p>
            <div class="drop-target">
              <p>Drop files or folders here, or choose them.</p>
              <UploadButtons target={target} />
            </div>
          </>
        )}
        <Sent folder={folder} bucket={bucket} />
      </div>
    </DropArea>
  );
}

interface QuestionProps {
  readonly box: DropBox;
  readonly other: string;
  onAccept(): void;
}

/** Asks whether to send files to recipients that differ from those of the address. */
function Question({ box: { bucket, recipients }, other, onAccept }: QuestionProps) {
  return (
    <div class="failure question" role="alert">
      <p>{changeOf(recipients, other)}</p>
      <p>Nothing is sent until you accept this. First ask the person who sent you the address.</p>
      {other !== notEndToEnd && (
        <p class="quiet">
          The owner can compare this digest with the one that efs identity show {bucket} prints:
          <code class="principal">{other}</code>
        </p>
      )}
      <button type="button" onClick={onAccept}>
        {other === notEndToEnd ? 'Send without encryption' : 'Accept the recipients'}
      </button>
    </div>
  );
}

function changeOf(expected: string | undefined, other: string): string {
  if (other === notEndToEnd) {
    return 'Files would no longer be encrypted on this device: whoever runs the service could read them.';
  }
  return expected === notEndToEnd
    ? 'Your files would now be encrypted on this device, for recipients that the address does not name.'
    : 'The recipients have changed since this address was made: other people could read your files.';
}

/** Lists the files sent since the page was opened. */
function Sent({ bucket, folder }: Pick<DropBox, 'bucket' | 'folder'>) {
  const names = useSignal<readonly string[]>([]);
  useEffect(
    () =>
      onStored((stored, files: readonly FileRecord[]) => {
        if (stored !== bucket) return;
        names.value = [...names.value, ...files.map(({ path }) => path.slice(folder.length))];
      }),
    [],
  );
  const { length } = names.value;
  if (length === 0) return null;
  return (
    <section aria-labelledby="sent">
      <h2 id="sent">{counted(length, 'file')} sent</h2>
      <ul class="lines">
        {names.value.slice(-50).map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      <p class="quiet">You may close this page, or send more.</p>
    </section>
  );
}
