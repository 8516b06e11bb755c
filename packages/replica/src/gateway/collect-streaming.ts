// Bodies by streaming callback: a few callbacks are collected, so that the whole can be verified;
// a longer body is streamed on as it comes. HTTP gateway specification, "Response Body Streaming";
// numbers, order and what happens at the ends are those of the network's gateways.

import { joinBytes } from '../bytes.ts';
import type { CanisterAnswer, StreamingCallback } from './candid-messages.ts';
import type { CanisterClient } from './canister-client.ts';

/** Callbacks whose bodies are joined and verified, as the network's gateways do. */
const collectedCallbacksMax = 4;
/** Parts of one body in all, the collected ones counted as one. There the body ends, as if it were
 * whole: only a Content-Length tells the client that it is not. */
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

/** Holds two parts at a time: the next is fetched while one is on its way to the client. */
async function* streamParts(
  canister: CanisterClient,
  start: { readonly collected: Uint8Array; readonly callback: StreamingCallback },
): AsyncGenerator<Uint8Array> {
  let body = start.collected;
  let callback: StreamingCallback | undefined = start.callback;
  for (let count = 1; callback !== undefined && count < streamedPartsMax; count += 1) {
    const next = canister.nextPart(callback);
    // Its failure counts when its turn comes, also if the client is gone by then.
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
