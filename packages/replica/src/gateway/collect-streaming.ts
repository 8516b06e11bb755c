// Bodies by streaming callback: the gateway collects a few callbacks, so that the whole body can be
// verified, and streams a longer body. HTTP gateway specification, "Response Body Streaming";
// limits, order and errors follow the network's gateways.

import { joinBytes } from '../bytes.ts';
import type { CanisterAnswer, StreamingCallback } from './candid-messages.ts';
import type { CanisterClient } from './canister-client.ts';

/** Maximum number of callbacks whose bodies are joined and verified. */
const collectedCallbacksMax = 4;
/**
 * Maximum number of chunks of one body; the collected ones count as one. The body ends there as if
 * complete, which the client detects only by a Content-Length.
 */
const streamedPartsMax = 1_000;

export type StreamedAnswer =
  | { readonly isWhole: true; readonly body: Uint8Array }
  | { readonly isWhole: false; readonly body: AsyncIterable<Uint8Array> };

export async function collectStreaming(
  answer: CanisterAnswer,
  canister: CanisterClient,
): Promise<StreamedAnswer> {
  const bodies = [answer.body];
  let callback = answer.streaming;
  for (let count = 0; callback !== undefined && count < collectedCallbacksMax; count += 1) {
    const part = await canister.nextPart(callback);
    bodies.push(part.body);
    callback = following(callback, part.token);
  }
  const body = joinBytes(bodies);
  if (callback === undefined) return { isWhole: true, body };
  return { isWhole: false, body: streamParts(canister, { collected: body, callback }) };
}

/** Buffers two chunks: the next is fetched while one is sent to the client. */
async function* streamParts(
  canister: CanisterClient,
  start: { readonly collected: Uint8Array; readonly callback: StreamingCallback },
): AsyncGenerator<Uint8Array> {
  let body = start.collected;
  let callback: StreamingCallback | undefined = start.callback;
  for (let count = 1; callback !== undefined && count < streamedPartsMax; count += 1) {
    const next = canister.nextPart(callback);
    // A failure is thrown by the `await` below; until then it must not count as unhandled.
    next.catch(() => {});
    yield body;
    const part = await next;
    body = part.body;
    callback = following(callback, part.token);
  }
  yield body;
}

function following(
  callback: StreamingCallback,
  token: Uint8Array | undefined,
): StreamingCallback | undefined {
  return token === undefined ? undefined : { ...callback, token };
}
