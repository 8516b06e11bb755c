// The body of a request as it comes: not from who sends so slowly that others would have to wait.

import type { IncomingMessage } from 'node:http';
import { S3Error } from './s3-error.ts';

/** So long the door waits in all for so many bytes: about a kilobyte a second. */
const usualWaitMsMax = 60_000;
const bytesMin = 65_536;

/** `begin` is called before the first byte is waited for. Throws RequestTimeout. */
export async function* piecesOf(
  request: IncomingMessage,
  begin: () => void,
  waitMsMax = usualWaitMsMax,
): AsyncGenerator<Uint8Array> {
  begin();
  const pieces = request.iterator({ destroyOnReturn: false });
  let waitedMs = 0;
  let bytes = 0;
  for (;;) {
    const startMs = performance.now();
    const timer = setTimeout(() => request.destroy(tooSlow()), waitMsMax - waitedMs);
    const { done, value } = await pieces.next().finally(() => clearTimeout(timer));
    if (done) return;
    waitedMs += performance.now() - startMs;
    bytes += value.length;
    if (bytes >= bytesMin) [waitedMs, bytes] = [0, 0];
    yield value;
  }
}

function tooSlow(): S3Error {
  return new S3Error('RequestTimeout', 'The body came too slowly.');
}
