// The progress of uploads: one line for all, and one for each that is in progress or has failed.

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import { Icon } from '../parts/icon.tsx';
import type { Session } from '../session.ts';
import type { UploadItem } from '../uploads/item.ts';
import { matching } from '../uploads/memory.ts';
import {
  addUploads,
  cancelUploads,
  forgetLeftOver,
  goOnWithUploads,
  pace,
  pauseUploads,
  retryUpload,
} from '../uploads/queue.ts';
import { leftOver, queueState, uploads } from '../uploads/state.ts';
import { nameOf, sizeOf, spanOf } from '../words.ts';
import { ConflictDialog } from './conflict-dialog.tsx';

/** Maximum number of lines; further uploads are only counted. */
const linesMax = 6;

export function UploadPanel({ session }: { session: Session }) {
  const items = uploads.value;
  const existing = items.filter(({ state }) => state === 'exists');
  const failed = items.filter(({ state }) => state === 'failed');
  const going = items.filter(({ state, doneBytes }) => state === 'sending' && doneBytes > 0);
  const isPutOff = useSignal(false);
  const isAsking = existing.length > 0;
  const putOff = (next: boolean) => {
    isPutOff.value = next;
  };
  useEffect(() => {
    // The page asks again about the next conflicts.
    if (!isAsking) putOff(false);
  }, [isAsking]);
  const lines = [...failed, ...going].slice(0, linesMax);
  return (
    <section class="uploads" aria-label={texts().uploads.label}>
      {leftOver.value.length > 0 && <LeftOver session={session} />}
      {items.length > 0 && (
        <Summary items={items} failed={failed} existing={existing} onDecide={() => putOff(false)} />
      )}
      {isAsking && !isPutOff.value && (
        <ConflictDialog
          items={existing}
          hasMore={items.some(({ state }) => state === 'waiting' || state === 'sending')}
          onClose={() => putOff(true)}
        />
      )}
      {lines.length > 0 && (
        <ul>
          {lines.map((item) => (
            <Line key={item.id} item={item} />
          ))}
        </ul>
      )}
      {failed.length > linesMax && <p>{texts().uploads.more(failed.length - linesMax)}</p>}
    </section>
  );
}

interface SummaryProps {
  readonly items: readonly UploadItem[];
  readonly failed: readonly UploadItem[];
  readonly existing: readonly UploadItem[];
}

type SummaryViewProps = SummaryProps & { onDecide(): void };

function Summary({ items, failed, existing, onDecide }: SummaryViewProps) {
  const total = items.reduce((sum, { file }) => sum + file.size, 0);
  const done = items.reduce((sum, { doneBytes }) => sum + doneBytes, 0);
  const isOver = items.every(({ state }) => state === 'stored');
  const { value: state } = queueState;
  const { uploads: words, page } = texts();
  return (
    <div class="upload-summary">
      <p role="status">{sentence({ items, failed, existing })}</p>
      <progress
        aria-label={words.uploaded}
        max={Math.max(total, 1)}
        value={isOver ? Math.max(total, 1) : done}
      />
      <p class="quiet">{detail(total, done)}</p>
      <div class="buttons">
        {existing.length > 0 && (
          <button type="button" class="main" onClick={onDecide}>
            {words.decide}
          </button>
        )}
        {state === 'sending' && (
          <button type="button" onClick={pauseUploads}>
            <Icon name="pause" />
            {words.pause}
          </button>
        )}
        {state === 'paused' && (
          <button type="button" onClick={goOnWithUploads}>
            <Icon name="play" />
            {words.continue}
          </button>
        )}
        <button type="button" onClick={() => cancelUploads(items)}>
          {isOver ? page.close : words.cancelAll}
        </button>
      </div>
    </div>
  );
}

function sentence({ items, failed, existing }: SummaryProps): string {
  const stored = items.filter(({ state }) => state === 'stored').length;
  const { uploads: words } = texts();
  if (stored === items.length) return words.done(stored);
  const rest = items.length - stored;
  if (queueState.value === 'unreachable') {
    return navigator.onLine ? words.unreachable : words.offline;
  }
  if (queueState.value === 'paused') return words.paused(rest);
  if (rest === failed.length) return words.failed(rest);
  if (rest === failed.length + existing.length) {
    return stored === 0
      ? words.waiting(existing.length)
      : words.partWaiting(stored, existing.length);
  }
  return words.underWay(rest);
}

function detail(total: number, done: number): string {
  const speed = queueState.value === 'sending' ? pace.speed() : undefined;
  const { uploads: words, words: common } = texts();
  const told = common.of(sizeOf(done), sizeOf(total));
  // Uploading with a key first asks for the bucket's mode, which takes seconds.
  if (done === 0 && queueState.value === 'sending') return words.preparing(told);
  if (speed === undefined || speed < 1 || done >= total) return told;
  const left = spanOf(((total - done) / speed) * 1_000);
  return words.pace(told, sizeOf(Math.round(speed)), left);
}

function Line({ item }: { item: UploadItem }) {
  const { path, file, state, doneBytes, failure } = item;
  const { uploads: words, page } = texts();
  const name = nameOf(path);
  return (
    <li>
      <p>
        <span class="name" dir="auto">
          {name}
        </span>
        {failure ? <span class="failed-words">{failure}</span> : <span>{sizeOf(file.size)}</span>}
      </p>
      {state === 'sending' && (
        <progress aria-label={words.progressOf(name)} max={file.size} value={doneBytes} />
      )}
      <div class="buttons">
        {state === 'failed' && (
          <button type="button" onClick={() => retryUpload(item)}>
            {page.tryAgain}
          </button>
        )}
        <button
          type="button"
          class="plain"
          aria-label={words.cancelOne(name)}
          onClick={() => cancelUploads([item])}
        >
          <Icon name="close" />
        </button>
      </div>
    </li>
  );
}

function LeftOver({ session }: { session: Session }) {
  const input = useRef<HTMLInputElement>(null);
  const kept = leftOver.value;
  const [first] = kept;
  const { uploads: words } = texts();
  const sentence =
    kept.length === 1 && first
      ? words.interruptedOne(nameOf(first.path))
      : words.interrupted(kept.length);
  const choose = (list: FileList | null) => {
    const chosen = [...(list ?? [])].flatMap((file) => {
      const found = matching(kept, file);
      if (found === undefined) return [];
      const { bucket, path } = found;
      return [{ target: { storage: session.storage, bucket, path }, file, kept: found }];
    });
    if (chosen.length > 0) void addUploads(chosen);
    else tell(words.otherFiles, { isFailure: true });
  };
  return (
    <div class="left-over">
      <p>{sentence}</p>
      <div class="buttons">
        <button type="button" class="main" onClick={() => input.current?.click()}>
          {words.choose}
        </button>
        <button type="button" onClick={() => void forgetLeftOver()}>
          {words.discard}
        </button>
      </div>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={words.filesToContinue}
        onChange={({ currentTarget }) => choose(currentTarget.files)}
      />
    </div>
  );
}
