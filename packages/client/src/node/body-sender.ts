// Sends bodies by fetch as streams whose slices are pulled as the connection accepts them. Works
// only in Node: browsers require HTTP/2.

import type { BodySender } from '../connection/watched-fetch.ts';

const sliceBytes = 65_536;

export const streamSender: BodySender = (url, { body, headers, ...init }, onSent) => {
  const length = body instanceof Uint8Array ? body.length : body.size;
  const fields = new Headers(headers);
  // Without it fetch would use chunked transfer encoding, which not every gateway accepts.
  fields.set('Content-Length', String(length));
  const stream = slicesOf(body, length, onSent);
  const streamed = { ...init, headers: fields, body: stream, duplex: 'half' };
  return fetch(url, streamed as RequestInit);
};

function slicesOf(
  body: Uint8Array | Blob,
  length: number,
  onSent: (bytes: number) => void,
): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        // A pull means that the previous slice was sent.
        onSent(at);
        if (at >= length) return sink.close();
        const end = Math.min(at + sliceBytes, length);
        const slice =
          body instanceof Uint8Array
            ? body.subarray(at, end)
            : new Uint8Array(await body.slice(at, end).arrayBuffer());
        at = end;
        sink.enqueue(slice);
      },
    },
    { highWaterMark: 0 },
  );
}
