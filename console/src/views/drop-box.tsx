// The page for people who were asked to send files: where the files go, and their progress.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { DropBox } from '../drop-box.ts';
import { isPassing, sentenceOf } from '../failures.ts';
import { Failure } from '../parts/failure.tsx';
import { askMode, type Session } from '../session.ts';
import { onStored } from '../uploads/stored.ts';
import { counted, nameOf } from '../words.ts';
import { DropArea, UploadButtons } from './drop-area.tsx';

const closed =
  'This drop box is closed: its time is over, or it was taken back. Ask who sent you the address ' +
  'for another one.';

export function DropBoxPage({ session, box }: { session: Session; box: DropBox }) {
  const { bucket, folder } = box;
  const isEndToEnd = useSignal<boolean | undefined>(undefined);
  const failure = useSignal<{ text: string; isPassing: boolean } | undefined>(undefined);
  async function look(): Promise<void> {
    failure.value = undefined;
    try {
      isEndToEnd.value = await askMode(bucket);
    } catch (error) {
      const isClosed = isStorageError(error, 'InvalidApiKey');
      failure.value = {
        text: isClosed ? closed : sentenceOf(error),
        isPassing: isPassing(error),
      };
    }
  }
  useEffect(() => void look(), []);
  const target = { session, bucket, prefix: folder };
  return (
    <DropArea target={target}>
      <div class="page">
        <h1 tabIndex={-1}>Send files</h1>
        <p>
          They go to {folder ? `the folder “${nameOf(folder)}” of “${bucket}”` : `“${bucket}”`}.
          Nobody sees by this page what is there.
        </p>
        <Failure
          text={failure.value?.text}
          {...(failure.value?.isPassing && { onRetry: () => void look() })}
        />
        {failure.value === undefined && isEndToEnd.value === undefined && (
          <p class="waiting">Asking whether it is open …</p>
        )}
        {isEndToEnd.value !== undefined && (
          <>
            <p>
              {isEndToEnd.value
                ? 'They are encrypted on this device before they are sent, and opened by those whom they are for alone.'
                : 'They lie encrypted, but whoever runs the service could read them.'}
            </p>
            <div class="drop-target">
              <p>Drop files or folders here, or choose them.</p>
              <UploadButtons target={target} />
            </div>
            <Sent folder={folder} bucket={bucket} />
          </>
        )}
      </div>
    </DropArea>
  );
}

/** Since the page was opened. */
function Sent({ bucket, folder }: DropBox) {
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
