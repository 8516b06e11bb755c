// Bodies by streaming callback: a few callbacks are collected, so that the whole can be verified;
// a longer body is streamed on as it comes. HTTP gateway specification, "Response Body Streaming".

import { joinBytes } from '../bytes.ts';
import type { CanisterAnswer, StreamingCallback } from './candid-messages.ts';
import type { CanisterClient } from './canister-client.ts';

/** Callbacks whose bodies are joined and verified, as the network's gateways do. */
const collectedCallbacksMax = 4;
/** Parts of one body in all, the collected ones counted as one. */
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

async function* streamParts(
  canister: CanisterClient,
  start: { readonly collected: Uint8Array; readonly callback: StreamingCallback },
): AsyncGenerator<Uint8Array> {
  yield start.collected;
  let callback: StreamingCallback | undefined = start.callback;
  for (let count = 1; callback !== undefined; count += 1) {
    if (count >= streamedPartsMax) throw new Error(`a body of more than ${streamedPartsMax} parts`);
    const part = await canister.nextPart(callback);
    yield part.body;
    callback = following(callback, part.token);
  }
}

function following(
  callback: StreamingCallback,
  token: Uint8Array | undefined,
): StreamingCallback | undefined {
  return token === undefined ? undefined : { ...callback, token };
}
