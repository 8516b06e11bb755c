// The page of a link to an encrypted file, decrypted with the secret in its address. It asks for
// nothing, and shows nothing else of the console.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { onDemand } from '../../../packages/client/src/connection/on-demand.ts';
import { linkedName } from '../../../packages/client/src/links/link-end.ts';
import { openLink } from '../../../packages/client/src/open-link.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { Download } from '../../../packages/client/src/types/transfers.ts';
import { isPassing, sentenceOf } from '../failures.ts';
import { saveBlob } from '../files/download.ts';
import type { Previewed } from '../files/previewed.ts';
import { typeOfName } from '../files/shown-type.ts';
import { fetchCommand, fileOfLink } from '../linked-file.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Failure } from '../parts/failure.tsx';
import { Notices } from '../parts/notices.tsx';
import { useTask } from '../parts/task.ts';
import { sizeOf } from '../words.ts';
import { Preview } from './preview.tsx';

/** It is whole in the page's memory before it is saved. */
const heldBytesMax = 300_000_000;
/** Two seconds: a link that is over is answered by a gateway as a service that fails. */
const retry = { attemptsMax: 3 };

const isOver = 'This link has expired or was taken back, or its address is not whole.';
const opensNot =
  'The end of this address does not open the file: it was cut, or another file has taken its ' +
  'place since.';
const advice = 'Ask who sent it for another link.';

function failureAt(error: unknown): string {
  const is = (code: string) => isStorageError(error, code);
  // A gateway withholds the answer to a wrong secret, because that answer is not certified.
  const isRefused = is('Unverified') || is('ResponseVerificationFailed');
  if (isRefused || is('NoSuchFile') || is('HttpError')) return `${isOver} ${advice}`;
  if (is('InvalidArgument') || is('IntegrityError')) return `${opensNot} ${advice}`;
  return sentenceOf(error);
}

interface Opened {
  readonly file: Download;
  /** For who looks at it and saves it. */
  whole(): Promise<Blob>;
}

/** Downloads again after a failure, because a download's bytes can be read only once. */
function fetchedOnce(opened: Download, openAgain: () => Promise<Download>): Opened['whole'] {
  let fresh: Download | undefined = opened;
  return onDemand(async () => {
    const { body } = fresh ?? (await openAgain());
    fresh = undefined;
    return new Response(body as BodyInit).blob();
  });
}

/** With the frame of the page, without its way to the console. */
export function LinkView({ link }: { link: URL }) {
  return (
    <>
      <header class="top">
        <span class="home">Files</span>
      </header>
      <main id="main">
        <LinkedFile link={link} />
      </main>
      <Notices />
    </>
  );
}

function LinkedFile({ link }: { link: URL }) {
  const opened = useSignal<Opened | undefined>(undefined);
  const doneBytes = useSignal(0);
  const failure = useSignal<{ text: string; isPassing: boolean } | undefined>(undefined);
  const name = linkedName(link);
  const onProgress = (progress: { readonly movedBytes: number }) => {
    doneBytes.value = progress.movedBytes;
  };
  const openAgain = async () => openLink((await fileOfLink(link)).href, { retry, onProgress });
  async function open(): Promise<void> {
    failure.value = undefined;
    try {
      const file = await openAgain();
      opened.value = { file, whole: fetchedOnce(file, openAgain) };
    } catch (error) {
      failure.value = { text: failureAt(error), isPassing: isPassing(error) };
    }
  }
  useEffect(() => void open(), []);
  const { value: shown } = opened;
  return (
    <div class="page">
      <h1 tabIndex={-1}>{name}</h1>
      <Failure
        text={failure.value?.text}
        {...(failure.value?.isPassing && { onRetry: () => void open() })}
      />
      {shown === undefined && failure.value === undefined && <p class="waiting">Opening …</p>}
      {shown && link.hash === '' && <Unopened name={name} {...shown} />}
      {shown && link.hash !== '' && (
        <OpenedFile link={link} name={name} doneBytes={doneBytes.value} {...shown} />
      )}
    </div>
  );
}

function OpenedFile(props: Opened & { link: URL; name: string; doneBytes: number }) {
  const { link, name, file, whole, doneBytes } = props;
  const { size } = file;
  const isHeld = size <= heldBytesMax;
  // Drawn anew with each step of the progress, the preview stays what it is.
  const previewed = useRef<Previewed>({ name, type: typeOfName(name), size, whole }).current;
  return (
    <>
      <p>
        {sizeOf(size)}. It was encrypted before it was sent, and is opened on this device: nobody on
        the way can read it.
      </p>
      {isHeld ? <Save name={name} whole={whole} /> : <TooLarge link={link} />}
      {doneBytes > 0 && doneBytes < size && (
        <progress aria-label="Fetched" max={size} value={doneBytes} />
      )}
      {isHeld && <Preview file={previewed} />}
    </>
  );
}

function Save({ name, whole }: Pick<Opened, 'whole'> & { name: string }) {
  const { isUnderWay, failure, run } = useTask();
  return (
    <>
      <div class="buttons">
        <button
          type="button"
          class="main"
          disabled={isUnderWay.value}
          onClick={() => void run(async () => saveBlob(await whole(), name))}
        >
          {isUnderWay.value ? 'Fetching …' : 'Download'}
        </button>
      </div>
      <Failure text={failure.value} />
    </>
  );
}

function TooLarge({ link }: { link: URL }) {
  const command = fetchCommand(link);
  if (command === undefined) {
    return <p>It is too large to be opened in a page, and its address is not whole. {advice}</p>;
  }
  return (
    <>
      <p>It is too large to be opened in a page. On a computer, the command efs fetches it:</p>
      <CopyText text={command} label="the command" />
    </>
  );
}

function Unopened({ name, file, whole }: Opened & { name: string }) {
  return (
    <>
      <p>
        {sizeOf(file.size)}, encrypted. The end of the address, behind #, is missing, and without it
        this page cannot open the file: ask who sent the link for all of it. If you have an age
        identity for it, download it as it is stored.
      </p>
      <Save name={name.endsWith('.age') ? name : `${name}.age`} whole={whole} />
    </>
  );
}
