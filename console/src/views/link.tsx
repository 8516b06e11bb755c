// The page of a link to an encrypted file, which it decrypts with the secret in the address. It
// needs no sign-in, and shows nothing else of the console.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { onDemand } from '../../../packages/client/src/connection/on-demand.ts';
import { linkedName } from '../../../packages/client/src/links/link-end.ts';
import { linkOf } from '../../../packages/client/src/links/locked-link.ts';
import { needsPassword, openLink, unlockLink } from '../../../packages/client/src/open-link.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { Download } from '../../../packages/client/src/types/transfers.ts';
import { isPassing, sentenceOf } from '../failures.ts';
import { saveBlob } from '../files/download.ts';
import type { Previewed } from '../files/previewed.ts';
import { typeOfName } from '../files/shown-type.ts';
import { texts } from '../language.ts';
import { fetchCommand, fileOfLink } from '../linked-file.ts';
import { CopyText } from '../parts/copy-text.tsx';
import { Failure } from '../parts/failure.tsx';
import { Field } from '../parts/field.tsx';
import { LanguageSelect } from '../parts/language-select.tsx';
import { Notices } from '../parts/notices.tsx';
import { useTask } from '../parts/task.ts';
import { retryOptions } from '../waits.ts';
import { sizeOf } from '../words.ts';
import { Preview } from './preview.tsx';

/** Larger files are not decrypted here, because the whole file is held in memory. */
const heldBytesMax = 300_000_000;
/** Few attempts: a gateway answers an expired link as if the service failed. */
const options = { ...retryOptions, retry: { ...retryOptions.retry, attemptsMax: 3 } };

function failureAt(error: unknown): string {
  // A gateway withholds the answer to a wrong secret, because that answer is not certified.
  const withheld = ['Unverified', 'ResponseVerificationFailed'];
  const { link: words } = texts();
  if (isStorageError(error, 'NoSuchFile', 'HttpError', ...withheld)) return words.ended;
  if (isStorageError(error, 'InvalidArgument', 'IntegrityError')) return words.opensNot;
  return sentenceOf(error);
}

interface Opened {
  readonly file: Download;
  /** Returns the decrypted file, for the preview and for saving. */
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

/** Shows the page's frame without links to the console. */
export function LinkView({ link }: { link: URL }) {
  const { name } = texts().page;
  useEffect(() => {
    document.title = name;
  }, [name]);
  return (
    <>
      <header class="top">
        <span class="home">{name}</span>
        <LanguageSelect />
      </header>
      <main id="main">
        {needsPassword(link.href) ? <LockedFile link={link} /> : <LinkedFile link={link} />}
      </main>
      <Notices />
    </>
  );
}

/** Asks for the password. Then the browser opens the file, or this page if it is encrypted. */
function LockedFile({ link }: { link: URL }) {
  const password = useSignal('');
  const unlocked = useSignal<URL | undefined>(undefined);
  const { isUnderWay, failure, run } = useTask(failureOfUnlocking);
  const { link: words } = texts();
  const name = linkedName(linkOf(link));
  const open = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      const file = await fileOfLink(link);
      const address = new URL(
        await unlockLink(file.href, { ...options, password: password.value }),
      );
      if (address.hash === '') location.replace(address);
      else unlocked.value = address;
    });
  };
  if (unlocked.value !== undefined) return <LinkedFile link={unlocked.value} />;
  return (
    <form class="page" onSubmit={open}>
      <h1 tabIndex={-1}>
        <bdi>{name}</bdi>
      </h1>
      <Field label={words.password} value={password} isSecret isRequired />
      <Failure text={failure.value} />
      <div class="buttons">
        <button type="submit" class="main" disabled={isUnderWay.value}>
          {isUnderWay.value ? words.opening : words.open}
        </button>
      </div>
    </form>
  );
}

function failureOfUnlocking(error: unknown): string {
  return isStorageError(error, 'AccessDenied') ? texts().link.wrongPassword : failureAt(error);
}

function LinkedFile({ link }: { link: URL }) {
  const opened = useSignal<Opened | undefined>(undefined);
  const doneBytes = useSignal(0);
  const failure = useSignal<{ text: string; isPassing: boolean } | undefined>(undefined);
  const name = linkedName(link);
  const onProgress = (progress: { readonly movedBytes: number }) => {
    doneBytes.value = progress.movedBytes;
  };
  const openAgain = async () => openLink((await fileOfLink(link)).href, { ...options, onProgress });
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
      <h1 tabIndex={-1}>
        <bdi>{name}</bdi>
      </h1>
      <Failure
        text={failure.value?.text}
        {...(failure.value?.isPassing && { onRetry: () => void open() })}
      />
      {shown === undefined && failure.value === undefined && (
        <p class="waiting">{texts().link.opening}</p>
      )}
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
  // The same object for each render, so that progress does not reload the preview.
  const previewed = useRef<Previewed>({ name, type: typeOfName(name), size, whole }).current;
  return (
    <>
      <p>{texts().link.opened(sizeOf(size))}</p>
      {isHeld ? <Save name={name} whole={whole} /> : <TooLarge link={link} />}
      {doneBytes > 0 && doneBytes < size && (
        <progress aria-label={texts().link.downloaded} max={size} value={doneBytes} />
      )}
      {isHeld && <Preview file={previewed} />}
    </>
  );
}

function Save({ name, whole }: Pick<Opened, 'whole'> & { name: string }) {
  const { link: words } = texts();
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
          {isUnderWay.value ? words.downloading : words.download}
        </button>
      </div>
      <Failure text={failure.value} />
    </>
  );
}

function TooLarge({ link }: { link: URL }) {
  const command = fetchCommand(link);
  const { link: words, copying } = texts();
  if (command === undefined) return <p>{words.tooLargeAndIncomplete}</p>;
  return (
    <>
      <p>{words.tooLarge}</p>
      <CopyText text={command} label={copying.command} />
    </>
  );
}

function Unopened({ name, file, whole }: Opened & { name: string }) {
  return (
    <>
      <p>{texts().link.encrypted(sizeOf(file.size))}</p>
      <Save name={name.endsWith('.age') ? name : `${name}.age`} whole={whole} />
    </>
  );
}
