// The body of a request as it arrives; fails for a client that is so slow that others would wait.

import type { IncomingMessage } from 'node:http';
import { S3Error } from './s3-error.ts';
import type { Place } from './workers.ts';

/** Maximum total time of waiting for each `bytesMin` bytes: about a kilobyte per second. */
const usualWaitMsMax = 60_000;
const bytesMin = 65_536;

/** While a client sends nothing for longer, its request yields its place to others. */
const promptMs = 250;

interface PiecesOptions {
  /** Called before the first byte is awaited. */
  readonly begin: () => void;
  readonly place?: Place;
  readonly waitMsMax?: number;
}

/** Throws RequestTimeout. */
export async function* piecesOf(
  request: IncomingMessage,
  { begin, place, waitMsMax = usualWaitMsMax }: PiecesOptions,
): AsyncGenerator<Uint8Array> {
  begin();
  const pieces = request.iterator({ destroyOnReturn: false });
  let waitedMs = 0;
  let bytes = 0;
  for (;;) {
    const startMs = performance.now();
    const timer = setTimeout(() => request.destroy(tooSlow()), waitMsMax - waitedMs);
    const next = pieces.next().finally(() => {
      clearTimeout(timer);
      waitedMs += performance.now() - startMs;
    });
    const { done, value } = await (place === undefined ? next : promptly(next, place));
    if (done) return;
    bytes += value.length;
    if (bytes >= bytesMin) [waitedMs, bytes] = [0, 0];
    yield value;
  }
}

async function promptly<T>(next: Promise<T>, place: Place): Promise<T> {
  const late = Symbol('late');
  let timer: NodeJS.Timeout | undefined;
  const time = new Promise<typeof late>((resolve) => {
    timer = setTimeout(() => resolve(late), promptMs);
  });
  const first = await Promise.race([next, time]).finally(() => clearTimeout(timer));
  return first === late ? place.waitOutside(next) : (first as T);
}

function tooSlow(): S3Error {
  return new S3Error('RequestTimeout', 'The body arrived too slowly: try again.');
}
