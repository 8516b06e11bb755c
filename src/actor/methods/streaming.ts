// Streamed bodies: the strategy in an answer, and the query for the following bytes. HTTP gateway
// specification, "Response Body Streaming".

import { canisterSelf, msgReject } from 'azle';
import { readStream, type StreamPiece } from '../../domain/files/streams.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { leb128 } from '../../lib/leb128.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { StreamingResponse, StreamingToken } from '../candid/http.ts';
import { messageHead } from '../candid/result.ts';
import { decodeArguments, query } from '../dispatch/method.ts';
import { replyBytes } from '../messages/native-reply.ts';
import { currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';

const callbackName = 'http_request_streaming_callback';

/**
 * Encodes `opt variant { Callback }` for an answer: the token, and the function as a reference to
 * canister and name. Candid specification, "Binary format", M and R.
 */
export function encodeStrategy(token: Uint8Array): Uint8Array {
  // Fields are ordered by hash: token, callback.
  return concatBytes(presentCallback, blob(token), callback());
}

const presentCallback = Uint8Array.of(1, 0);

let callbackReference: Uint8Array | undefined;

/** Encoded once, because a canister keeps its id. */
function callback(): Uint8Array {
  callbackReference ??= encodeCallback();
  return callbackReference;
}

function encodeCallback(): Uint8Array {
  const self = canisterSelf().toUint8Array();
  const name = encodeUtf8(callbackName);
  return concatBytes(Uint8Array.of(1, 1, self.length), self, Uint8Array.of(name.length), name);
}

const pieceHead = messageHead(StreamingResponse);

/** Returns the message up to the bytes of the body; fields are ordered by hash: token, body. */
function headOfPiece({ body, token }: StreamPiece): Uint8Array {
  const present =
    token === undefined ? Uint8Array.of(0) : concatBytes(Uint8Array.of(1), blob(token));
  return concatBytes(pieceHead, present, leb128(body.length));
}

function blob(bytes: Uint8Array): Uint8Array {
  return concatBytes(leb128(bytes.length), bytes);
}

/** Streaming: queries by which gateways read the rest of a body. */
export class StreamingActor {
  /** Returns the next bytes of a body, at most 1,900,000. */
  @query([StreamingToken], StreamingResponse, { manual: true })
  http_request_streaming_callback(): void {
    const parameters = [StreamingToken];
    const decoded = decodeArguments({ name: callbackName, parameters });
    if (decoded === undefined) return;
    const [{ token }] = decoded as unknown as [{ token: Uint8Array }];
    try {
      const piece = readStream(stores, currentCall(), token);
      replyBytes(headOfPiece(piece), piece.body);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      msgReject(`${error.code}: ${error.message}`);
    }
  }
}
