// The page of a drop box for its senders. It sends nothing while the bucket's recipients differ
// from those of the address, unless the sender accepts them.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { notEndToEnd } from '../../../packages/client/src/types/recipients-digest.ts';
import { recipientsOf } from '../drop-box.ts';
import { isPassing, sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { Failure } from '../parts/failure.tsx';
import { acceptRecipients, type DropBox, otherRecipients, type Session } from '../session.ts';
import { retryUpload } from '../uploads/queue.ts';
import { uploads } from '../uploads/state.ts';
import { onStored } from '../uploads/stored.ts';
import { nameOf } from '../words.ts';
import { DropArea, UploadButtons } from './drop-area.tsx';

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
        text: isClosed ? texts().dropBox.closed : sentenceOf(error),
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
  const { dropBox: words } = texts();
  const target = { session, bucket, prefix: folder };
  const { value: known } = recipients;
  const { value: other } = otherRecipients;
  const isOpen = known !== undefined && other === undefined;
  return (
    <DropArea target={target} isOff={!isOpen}>
      <div class="page">
        <h1 tabIndex={-1}>{words.title}</h1>
        <p>{folder ? words.toFolder(nameOf(folder), bucket) : words.toBucket(bucket)}</p>
        {box.message && (
          <blockquote dir="auto" aria-label={words.message}>
            {box.message}
          </blockquote>
        )}
        <Failure
          text={failure.value?.text}
          {...(failure.value?.isPassing && { onRetry: () => void look() })}
        />
        {failure.value === undefined && known === undefined && (
          <p class="waiting">{words.checking}</p>
        )}
        {other !== undefined && <Question box={box} other={other} onAccept={() => accept(other)} />}
        {isOpen && (
          <>
            <p>{known === notEndToEnd ? words.readable : words.sealed}</p>
            <div class="drop-target">
              <p>{words.dropHere}</p>
              <div class="buttons">
                <UploadButtons target={target} />
              </div>
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
  const { dropBox: words } = texts();
  return (
    <div class="failure question" role="alert">
      <p>{changeOf(recipients, other)}</p>
      <p>{words.nothingSent}</p>
      {other !== notEndToEnd && (
        <p class="quiet">
          {words.compare(`efs identity show ${bucket}`)}
          <code class="principal">{other}</code>
        </p>
      )}
      <button type="button" onClick={onAccept}>
        {other === notEndToEnd ? words.sendReadable : words.accept}
      </button>
    </div>
  );
}

function changeOf(expected: string | undefined, other: string): string {
  const { dropBox: words } = texts();
  if (other === notEndToEnd) return words.changedToReadable;
  return expected === notEndToEnd ? words.changedToSealed : words.changed;
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
      <h2 id="sent">{texts().dropBox.sent(length)}</h2>
      <ul class="lines">
        {names.value.slice(-50).map((name) => (
          <li key={name}>
            <bdi>{name}</bdi>
          </li>
        ))}
      </ul>
      <p class="quiet">{texts().dropBox.more}</p>
    </section>
  );
}
