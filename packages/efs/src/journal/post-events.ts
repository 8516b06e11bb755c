// `efs events`: sends each change of a bucket to a program as a CloudEvent over HTTP, in order and
// at least once: the cursor moves on when the program has acknowledged an event with a status of
// 200 to 299, so an event whose acknowledgment was lost is sent again.

import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { replaceFile } from '../../../client/src/node/replace-file.ts';
import type { Run } from '../config/run.ts';
import { printNote } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';
import { canisterOf, cloudEventOf, cloudEventType } from './cloud-event.ts';

const retryMsMin = 1_000;
const retryMsMax = 60_000;
const answerMsMax = 30_000;

interface EventFlags {
  readonly post: URL;
  readonly cursor: string;
}

interface Cursor {
  readonly source: string;
  readonly after: number;
}

export async function postEvents(
  run: Run,
  bucket: string,
  { post: url, cursor: file }: EventFlags,
): Promise<void> {
  const { signal } = run;
  const storage = await run.manager();
  const place = { canisterId: await canisterOf(run, storage, bucket), bucket };
  const source = `${place.canisterId}/${bucket}`;
  const after = await readCursor(file, source);
  for await (const entry of storage.journal.watch(bucket, { after, signal })) {
    const body = JSON.stringify(cloudEventOf(place, entry));
    if (!(await postUntilAcknowledged(url, body, signal))) return;
    await replaceFile(file, `${JSON.stringify({ source, after: entry.seq })}\n`);
  }
}

/** Returns 0, which is before all entries, if the file does not exist yet. */
async function readCursor(file: string, source: string): Promise<number> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
  const cursor = parsed(text);
  if (cursor?.source === source) return cursor.after;
  throw new UsageError(
    `${file} is not the cursor of ${source}${cursor ? ` but that of ${cursor.source}` : ''}: pass ` +
      'another file; a new one begins with the first entry.',
  );
}

function parsed(text: string): Cursor | undefined {
  try {
    const { source, after } = JSON.parse(text);
    return typeof source === 'string' && Number.isSafeInteger(after)
      ? { source, after }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Retries with growing delays; returns false if the signal aborts first. */
async function postUntilAcknowledged(
  url: URL,
  body: string,
  signal: AbortSignal,
): Promise<boolean> {
  for (let delayMs = retryMsMin; !signal.aborted; delayMs = Math.min(2 * delayMs, retryMsMax)) {
    try {
      await post(url, body, signal);
      return true;
    } catch (error) {
      if (signal.aborted) break;
      printNote(`${url.host}: ${reasonOf(error)}; next attempt in ${delayMs / 1_000} s.`);
    }
    await wait(delayMs, undefined, { signal }).catch(() => {});
  }
  return false;
}

async function post(url: URL, body: string, signal: AbortSignal): Promise<void> {
  const { status, body: answer } = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': cloudEventType },
    body,
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]),
  });
  await answer?.cancel();
  if (status < 200 || status > 299) throw new Error(`the event was answered with ${status}`);
}

/** Returns why a request failed; `fetch` has it as the cause of its error. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message || cause.name : message;
}
