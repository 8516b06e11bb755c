// The upload queue of this page. It continues by itself when the service can be reached again.

import { batch } from '@preact/signals';
import type { ChosenFile } from '../../../packages/client/src/bytes/dropped-files.ts';
import { isStorageError } from '../../../packages/client/src/storage-error.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import { isAborted, isPassing, sentenceOf } from '../failures.ts';
import { isPicture, shownType } from '../files/shown-type.ts';
import { texts } from '../language.ts';
import { nextName } from '../words.ts';
import { type Choice, itemOf, keptOf, type UploadItem, type UploadTarget } from './item.ts';
import { forgetUploads, type KeptUpload, keepUploads, matching } from './memory.ts';
import { createPace } from './pace.ts';
import { isSmall, sendLarge, sendSmall, storedBefore } from './send.ts';
import { leftOver, type QueueState, queueState, uploads } from './state.ts';
import { tellStored } from './stored.ts';

export const pace = createPace();

const largeAtOnce = 2;
const lookAgainMs = 3_000;
const drawnEveryMs = 150;
/** Each name can take the bytes once more, and a lying gateway could refuse every one. */
const namesTriedMax = 20;

let controller = new AbortController();
let smallWorkers = 0;
/** Items whose worker has not ended, even if it was stopped: a second one would upload twice. */
const largeItems = new Set<UploadItem>();
let isDrawPlanned = false;

function draw(): void {
  if (isDrawPlanned) return;
  isDrawPlanned = true;
  setTimeout(() => {
    isDrawPlanned = false;
    const done = uploads.value.reduce((sum, { doneBytes }) => sum + doneBytes, 0);
    if (queueState.value === 'sending') pace.note(done);
    uploads.value = [...uploads.value];
  }, drawnEveryMs);
}

export async function addUploads(
  chosen: readonly {
    readonly target: UploadTarget;
    readonly file: File;
    readonly kept?: KeptUpload | undefined;
  }[],
): Promise<void> {
  const added = chosen.map(({ target, file, kept }) => itemOf(target, file, kept));
  const isFresh = uploads.value.every(({ state }) => state === 'stored');
  batch(() => {
    uploads.value = isFresh ? added : [...uploads.value, ...added];
    const again = new Set(added.map(({ id }) => id));
    leftOver.value = leftOver.value.filter(({ id }) => !again.has(id));
  });
  await keepUploads(added.map(keptOf));
  work();
}

/** Uploads files into a folder; continues interrupted uploads of the same files. */
export function addToFolder(
  { storage, bucket, path: folder }: UploadTarget,
  chosen: readonly ChosenFile[],
): Promise<void> {
  return addUploads(
    chosen.map(({ file, path }) => {
      const target = { storage, bucket, path: folder + path };
      const kept = leftOver.value.filter(
        (one) => one.bucket === bucket && one.path === target.path,
      );
      return { target, file, kept: matching(kept, file) };
    }),
  );
}

/** Stops all uploads when the user signs out. */
export function stopUploads(): void {
  controller.abort();
  uploads.value = [];
  queueState.value = 'idle';
}

export function pauseUploads(): void {
  queueState.value = 'paused';
  stopSending();
}

export function goOnWithUploads(): void {
  queueState.value = 'sending';
  work();
}

function stopSending(): void {
  controller.abort();
  for (const item of uploads.value) if (item.state === 'sending') item.state = 'waiting';
  pace.forget();
  draw();
}

export function retryUpload(item: UploadItem, how: 'again' | 'replace' | 'both' = 'again'): void {
  if (how === 'replace') item.mayReplace = true;
  if (how === 'both') {
    item.namesLeft = namesTriedMax;
    item.path = nextName(item.path);
  }
  // A session has one path and one condition, so another choice needs a new session.
  if (how !== 'again') item.uploadId = undefined;
  item.state = 'waiting';
  item.failure = undefined;
  work();
}

/**
 * Decides for all files whose names exist, also for those of this upload that turn out to exist
 * later.
 */
export function chooseForAll(choice: Choice): void {
  const open = uploads.value.filter(({ state }) => state !== 'stored' && state !== 'failed');
  for (const item of open) item.choice = choice;
  for (const item of open) if (item.state === 'exists') applyChoice(item);
}

function applyChoice(item: UploadItem): void {
  const { choice } = item;
  item.choice = undefined;
  if (choice === 'skip') cancelUploads([item]);
  else if (choice !== undefined) retryUpload(item, choice);
}

function retryNextName(item: UploadItem): void {
  const { namesLeft } = item;
  retryUpload(item, 'both');
  item.namesLeft = namesLeft - 1;
}

export function cancelUploads(items: readonly UploadItem[]): void {
  const gone = new Set(items);
  const wasSending = items.some(({ state }) => state === 'sending');
  uploads.value = uploads.value.filter((item) => !gone.has(item));
  void forgetUploads(items.map(({ id }) => id));
  for (const { storage, bucket, path, uploadId } of items) {
    // If this request fails, the session expires.
    if (uploadId) storage.uploads.cancel({ bucket, path, uploadId }).catch(() => {});
  }
  if (wasSending) stopSending();
  work();
}

export async function forgetLeftOver(): Promise<void> {
  const ids = leftOver.value.map(({ id }) => id);
  leftOver.value = [];
  await forgetUploads(ids);
}

function take(isWanted: (item: UploadItem) => boolean): UploadItem | undefined {
  const item = uploads.value.find((one) => one.state === 'waiting' && isWanted(one));
  if (item !== undefined) item.state = 'sending';
  return item;
}

function work(): void {
  const { value: state } = queueState;
  draw();
  if (state === 'paused' || state === 'unreachable') return;
  if (controller.signal.aborted) controller = new AbortController();
  const { signal: stop } = controller;
  while (smallWorkers < 1) {
    const first = take(isSmall);
    if (first === undefined) break;
    smallWorkers += 1;
    void workSmall(first, stop).finally(() => ended(() => (smallWorkers -= 1)));
  }
  while (largeItems.size < largeAtOnce) {
    const item = take((one) => !isSmall(one) && !largeItems.has(one));
    if (item === undefined) break;
    largeItems.add(item);
    void workLarge(item, stop).finally(() => ended(() => largeItems.delete(item)));
  }
  queueState.value = smallWorkers + largeItems.size > 0 ? 'sending' : 'idle';
}

function ended(count: () => void): void {
  count();
  work();
}

async function workSmall(first: UploadItem, stop: AbortSignal): Promise<void> {
  const taken = [first];
  const next = (underWay: ReadonlyMap<string, UploadItem>) => {
    const { bucket } = first;
    const item = take((one) => isSmall(one) && one.bucket === bucket && !underWay.has(one.path));
    if (item !== undefined) taken.push(item);
    return item;
  };
  try {
    for await (const { item, ended } of sendSmall(first, next, {
      signal: stop,
      onProgress: draw,
    })) {
      if (ended.file) stored(item, ended.file);
      else await failed(item, ended.error, stop);
    }
  } catch (error) {
    for (const item of taken) if (item.state === 'sending') await failed(item, error, stop);
  }
}

async function workLarge(item: UploadItem, stop: AbortSignal): Promise<void> {
  try {
    const onSession = () => keepUploads([keptOf(item)]);
    stored(item, await sendLarge(item, { signal: stop, onProgress: draw, onSession }));
  } catch (error) {
    await failed(item, error, stop);
  }
}

function stored(item: UploadItem, file: FileRecord): void {
  item.state = 'stored';
  item.doneBytes = item.file.size;
  item.failure = undefined;
  void forgetUploads([item.id]);
  tellStored(item.bucket, [file]);
  if (isPicture(shownType(file))) {
    import('./thumbnails.ts').then(
      ({ storeThumbnail }) => storeThumbnail(item, file),
      () => {},
    );
  }
  draw();
}

async function failed(item: UploadItem, error: unknown, stop: AbortSignal): Promise<void> {
  if (stop.aborted || isAborted(error)) {
    // Paused, cancelled, or the service was unreachable: the item waits again.
    item.wasSent = true;
    if (item.state === 'sending') item.state = 'waiting';
  } else if (isPassing(error)) {
    item.wasSent = true;
    item.state = 'waiting';
    void waitForService(item);
  } else if (isStorageError(error, 'PreconditionFailed')) {
    const found = await storedBefore(item);
    if (found !== undefined) return stored(item, found);
    if (item.namesLeft > 0) return retryNextName(item);
    item.state = 'exists';
    item.failure = texts().failures.nameTaken;
    applyChoice(item);
  } else {
    item.state = 'failed';
    item.failure = sentenceOf(error);
  }
  draw();
}

/** Retries every few seconds, and at once when the browser reports that it is online. */
async function waitForService({ storage }: UploadItem): Promise<void> {
  if (queueState.value === 'unreachable') return;
  queueState.value = 'unreachable';
  stopSending();
  for (;;) {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, lookAgainMs);
      addEventListener('online', () => resolve(), { once: true });
    });
    // The user has paused or signed out meanwhile.
    if ((queueState.value as QueueState) !== 'unreachable') return;
    const isThere = await storage.status().then(
      () => true,
      () => false,
    );
    if (isThere && (queueState.value as QueueState) === 'unreachable') return goOnWithUploads();
  }
}

addEventListener('offline', () => {
  const item = uploads.value.find(({ state }) => state === 'sending');
  if (item !== undefined) void waitForService(item);
});

addEventListener('beforeunload', (event) => {
  if (queueState.value === 'sending' || queueState.value === 'unreachable') event.preventDefault();
});
