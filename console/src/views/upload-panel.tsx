// The progress of uploads: one line for all, one for each that is in progress or has failed, and
// one question about all files whose names exist.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { tell } from '../notices.ts';
import { Icon } from '../parts/icon.tsx';
import type { Session } from '../session.ts';
import type { UploadItem } from '../uploads/item.ts';
import { matching } from '../uploads/memory.ts';
import {
  addUploads,
  cancelUploads,
  chooseForAll,
  forgetLeftOver,
  goOnWithUploads,
  leftOver,
  pace,
  pauseUploads,
  queueState,
  retryUpload,
  uploads,
} from '../uploads/queue.ts';
import { counted, nameOf, sizeOf, spanOf } from '../words.ts';

/** Maximum number of lines; further uploads are only counted. */
const linesMax = 6;

export function UploadPanel({ session }: { session: Session }) {
  const items = uploads.value;
  const existing = items.filter(({ state }) => state === 'exists');
  const failed = items.filter(({ state }) => state === 'failed');
  const going = items.filter(({ state, doneBytes }) => state === 'sending' && doneBytes > 0);
  const isDeciding = useSignal(false);
  const isAsking = existing.length > 0;
  useEffect(() => {
    // The next conflicts are asked about together again.
    if (!isAsking) isDeciding.value = false;
  }, [isAsking]);
  const asked = isDeciding.value ? existing : [];
  const wanting = [...failed, ...asked];
  const lines = [...wanting, ...going].slice(0, linesMax);
  return (
    <section class="uploads" aria-label="Uploads">
      {leftOver.value.length > 0 && <LeftOver session={session} />}
      {items.length > 0 && <Summary items={items} failed={failed} existing={existing} />}
      {isAsking && !isDeciding.value && (
        <Existing
          items={existing}
          hasMore={items.some(({ state }) => state === 'waiting' || state === 'sending')}
          onDecideEach={() => {
            isDeciding.value = true;
          }}
        />
      )}
      {lines.length > 0 && (
        <ul>
          {lines.map((item) => (
            <Line key={item.id} item={item} />
          ))}
        </ul>
      )}
      {wanting.length > linesMax && <p>{counted(wanting.length - linesMax, 'more file')}</p>}
    </section>
  );
}

interface SummaryProps {
  readonly items: readonly UploadItem[];
  readonly failed: readonly UploadItem[];
  readonly existing: readonly UploadItem[];
}

interface ExistingProps {
  readonly items: readonly UploadItem[];
  /** Further files may turn out to exist. */
  readonly hasMore: boolean;
  onDecideEach(): void;
}

/** One question about all files whose names exist; the other uploads continue meanwhile. */
function Existing({ items, hasMore, onDecideEach }: ExistingProps) {
  const [first] = items;
  const isOne = items.length === 1 && !hasMore;
  const question = isOne
    ? `“${nameOf(first?.path ?? '')}” already exists. Replace it?`
    : items.length === 1
      ? '1 of these files already exists. Replace it?'
      : `${items.length} of these files already exist. Replace them?`;
  return (
    <section class="existing" aria-label="Existing files">
      <p>{question}</p>
      {hasMore && <p class="quiet">Your answer also applies to the files that follow.</p>}
      <div class="buttons">
        <button type="button" onClick={() => chooseForAll('replace')}>
          {isOne ? 'Replace' : 'Replace all'}
        </button>
        <button type="button" onClick={() => chooseForAll('both')}>
          Keep both
        </button>
        <button type="button" onClick={() => chooseForAll('skip')}>
          {isOne ? 'Skip' : 'Skip all'}
        </button>
        {!isOne && (
          <button type="button" onClick={onDecideEach}>
            Decide each
          </button>
        )}
      </div>
    </section>
  );
}

function Summary({ items, failed, existing }: SummaryProps) {
  const total = items.reduce((sum, { file }) => sum + file.size, 0);
  const done = items.reduce((sum, { doneBytes }) => sum + doneBytes, 0);
  const isOver = items.every(({ state }) => state === 'stored');
  const { value: state } = queueState;
  return (
    <div class="upload-summary">
      <p role="status">{sentence({ items, failed, existing })}</p>
      <progress
        aria-label="Uploaded"
        max={Math.max(total, 1)}
        value={isOver ? Math.max(total, 1) : done}
      />
      <p class="quiet">{detail(total, done)}</p>
      <div class="buttons">
        {state === 'sending' && (
          <button type="button" onClick={pauseUploads}>
            <Icon name="pause" />
            Pause
          </button>
        )}
        {state === 'paused' && (
          <button type="button" onClick={goOnWithUploads}>
            <Icon name="play" />
            Continue
          </button>
        )}
        <button type="button" onClick={() => cancelUploads(items)}>
          {isOver ? 'Close' : 'Cancel all'}
        </button>
      </div>
    </div>
  );
}

function sentence({ items, failed, existing }: SummaryProps): string {
  const stored = items.filter(({ state }) => state === 'stored').length;
  if (stored === items.length) return `${counted(stored, 'file')} uploaded.`;
  const rest = items.length - stored;
  if (queueState.value === 'unreachable') {
    return navigator.onLine
      ? 'The service cannot be reached. The upload continues by itself when it can.'
      : 'You are offline. The upload continues by itself when you are online.';
  }
  if (queueState.value === 'paused') return `Paused: ${counted(rest, 'file')} to go.`;
  if (rest === failed.length) return `${counted(rest, 'file')} not uploaded.`;
  if (rest === failed.length + existing.length) {
    const waiting = 'waiting for your answer.';
    if (stored === 0) return `${counted(existing.length, 'file')} ${waiting}`;
    return `${counted(stored, 'file')} uploaded, ${existing.length} ${waiting}`;
  }
  return `Uploading ${counted(rest, 'file')} …`;
}

function detail(total: number, done: number): string {
  const speed = queueState.value === 'sending' ? pace.speed() : undefined;
  const told = `${sizeOf(done)} of ${sizeOf(total)}`;
  // Uploading with a key first asks for the bucket's mode, which takes seconds.
  if (done === 0 && queueState.value === 'sending') return `${told} · preparing`;
  if (speed === undefined || speed < 1 || done >= total) return told;
  const left = spanOf(((total - done) / speed) * 1_000);
  return `${told} · ${sizeOf(Math.round(speed))} per second · ${left} left`;
}

function Line({ item }: { item: UploadItem }) {
  const { path, file, state, doneBytes, failure } = item;
  const name = nameOf(path);
  return (
    <li>
      <p>
        <span class="name">{name}</span>
        {failure ? <span class="failed-words">{failure}</span> : <span>{sizeOf(file.size)}</span>}
      </p>
      {state === 'sending' && (
        <progress aria-label={`Progress of ${name}`} max={file.size} value={doneBytes} />
      )}
      <div class="buttons">
        {state === 'failed' && (
          <button type="button" onClick={() => retryUpload(item)}>
            Try again
          </button>
        )}
        {state === 'exists' && (
          <>
            <button type="button" onClick={() => retryUpload(item, 'replace')}>
              Replace
            </button>
            <button type="button" onClick={() => retryUpload(item, 'both')}>
              Keep both
            </button>
            <button type="button" onClick={() => cancelUploads([item])}>
              Skip
            </button>
          </>
        )}
        {state !== 'exists' && (
          <button
            type="button"
            class="plain"
            aria-label={`Cancel ${name}`}
            onClick={() => cancelUploads([item])}
          >
            <Icon name="close" />
          </button>
        )}
      </div>
    </li>
  );
}

function LeftOver({ session }: { session: Session }) {
  const input = useRef<HTMLInputElement>(null);
  const kept = leftOver.value;
  const [first] = kept;
  const what = kept.length === 1 && first ? nameOf(first.path) : counted(kept.length, 'file');
  const choose = (list: FileList | null) => {
    const chosen = [...(list ?? [])].flatMap((file) => {
      const found = matching(kept, file);
      if (found === undefined) return [];
      const { bucket, path } = found;
      return [{ target: { storage: session.storage, bucket, path }, file, kept: found }];
    });
    if (chosen.length > 0) void addUploads(chosen);
    else
      tell('None of these files is the interrupted one, or it has changed since.', {
        isFailure: true,
      });
  };
  return (
    <div class="left-over">
      <p>The upload of {what} was interrupted. Choose the same files to continue.</p>
      <div class="buttons">
        <button type="button" class="main" onClick={() => input.current?.click()}>
          Choose and continue
        </button>
        <button type="button" onClick={() => void forgetLeftOver()}>
          Discard
        </button>
      </div>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label="Files to continue with"
        onChange={({ currentTarget }) => choose(currentTarget.files)}
      />
    </div>
  );
}
