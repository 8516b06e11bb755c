// The gateway protocol's messages in Candid (HTTP gateway specification, "Canister HTTP
// Interface"). The canister chooses the type of the streaming token, and gets the token back with
// that type.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { concatBytes } from '../bytes.ts';
import { encodeLeb128 } from '../state/leb128.ts';
import type { HeaderField, HttpRequest } from './http-messages.ts';
import { splitLeadingBody } from './split-leading-body.ts';

const Headers = IDL.Vec(IDL.Tuple(IDL.Text, IDL.Text));
const Blob = IDL.Vec(IDL.Nat8);
const UpdateRequest = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: Headers,
  body: Blob,
});
const QueryRequest = IDL.Record({
  method: IDL.Text,
  url: IDL.Text,
  headers: Headers,
  body: Blob,
  certificate_version: IDL.Opt(IDL.Nat16),
});
const StreamingStrategy = IDL.Variant({
  Callback: IDL.Record({ callback: IDL.Unknown, token: IDL.Unknown }),
});
const Response = IDL.Record({
  status_code: IDL.Nat16,
  headers: Headers,
  body: Blob,
  upgrade: IDL.Opt(IDL.Bool),
  streaming_strategy: IDL.Opt(StreamingStrategy),
});
const StreamingResponse = IDL.Record({ body: Blob, token: IDL.Opt(IDL.Unknown) });

/** The requested response verification version. */
const certificateVersion = 2;

/** From this size on, a body is inserted after the encoding. */
const spliceBytesMin = 65_536;

/** An encoded token: Candid bytes of one argument. */
export type StreamingToken = Uint8Array;

export interface StreamingCallback {
  readonly canisterId: Principal;
  readonly method: string;
  readonly token: StreamingToken;
}

export interface CanisterAnswer {
  readonly status: number;
  readonly headers: readonly HeaderField[];
  readonly body: Uint8Array;
  readonly isUpgrade: boolean;
  readonly streaming: StreamingCallback | undefined;
}

export interface StreamedPart {
  readonly body: Uint8Array;
  /** Undefined after the last chunk. */
  readonly token: StreamingToken | undefined;
}

/** A value decoded as IDL.Unknown, with its own type. */
interface UnknownValue {
  type(): IDL.Type;
  valueOf(): unknown;
}

interface DecodedResponse {
  readonly status_code: number;
  readonly headers: [string, string][];
  readonly body: Uint8Array;
  readonly upgrade: [] | [boolean];
  readonly streaming_strategy:
    | []
    | [
        {
          readonly Callback: {
            readonly callback: readonly [Principal, string];
            readonly token: UnknownValue;
          };
        },
      ];
}

export function encodeQueryRequest(request: HttpRequest): Uint8Array {
  const value = { ...request, certificate_version: [certificateVersion] };
  return encodeRequest(QueryRequest, value);
}

export function encodeUpdateRequest(request: HttpRequest): Uint8Array {
  return encodeRequest(UpdateRequest, request);
}

/**
 * Inserts a large body afterwards, at the position where the encodings of two bodies differ,
 * because the library copies a body several times.
 */
function encodeRequest(type: IDL.Type, request: HttpRequest): Uint8Array {
  const { body } = request;
  if (body.length < spliceBytesMin) return IDL.encode([type], [request]);
  const encodedWith = (byte: number) =>
    IDL.encode([type], [{ ...request, body: Uint8Array.of(byte) }]);
  const around = encodedWith(0);
  const other = encodedWith(1);
  const at = around.findIndex((byte, index) => byte !== other[index]);
  const length = encodeLeb128(body.length);
  return concatBytes([around.subarray(0, at - 1), length, body, around.subarray(at + 1)]);
}

/** Throws the Candid library's error for bytes that are not an HttpResponse. */
export function decodeAnswer(reply: Uint8Array): CanisterAnswer {
  const { value, body } = decode<DecodedResponse>(Response, reply);
  const [strategy] = value.streaming_strategy;
  return {
    status: value.status_code,
    headers: value.headers,
    body,
    isUpgrade: value.upgrade[0] === true,
    streaming: strategy === undefined ? undefined : callbackOf(strategy.Callback),
  };
}

export function decodeStreamedPart(reply: Uint8Array): StreamedPart {
  const { value, body } = decode<{ readonly body: Uint8Array; readonly token: UnknownValue[] }>(
    StreamingResponse,
    reply,
  );
  const [token] = value.token;
  return { body, token: token === undefined ? undefined : encodeToken(token) };
}

function callbackOf(strategy: {
  readonly callback: readonly [Principal, string];
  readonly token: UnknownValue;
}): StreamingCallback {
  const [canisterId, method] = strategy.callback;
  if (typeof method !== 'string')
    throw new Error('the streaming callback is not a function reference');
  return { canisterId, method, token: encodeToken(strategy.token) };
}

/** Unboxes primitive values, which are boxed to carry their type. */
function encodeToken(token: UnknownValue): StreamingToken {
  return IDL.encode([token.type()], [token.valueOf()]);
}

function decode<T extends { readonly body: Uint8Array }>(
  type: IDL.Type,
  reply: Uint8Array,
): { readonly value: T; readonly body: Uint8Array } {
  const split = splitLeadingBody(reply);
  // The library reads from the start of the underlying buffer, ignoring the view's offset.
  const bytes = split?.rest ?? (reply.byteOffset === 0 ? reply : reply.slice());
  const value = IDL.decode([type], bytes)[0] as unknown as T;
  return { value, body: split?.body ?? value.body };
}
