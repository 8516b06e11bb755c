// The signed envelope of an update call with an argument of megabytes, built in one buffer and
// hashed by the platform. The agent would copy the argument several times and hash it twice in
// JavaScript. IC spec, "Request: Call", "Representation-independent hashing", "Authentication".

import {
  requestIdOf as agentRequestIdOf,
  Cbor,
  IC_REQUEST_DOMAIN_SEPARATOR,
  type Identity,
  type SignIdentity,
} from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import type { DelegationIdentity } from '@icp-sdk/core/identity';
import { Principal } from '@icp-sdk/core/principal';
import { concatBytes, encodeHex } from '../bytes/bytes.ts';
import { sha256 } from '../bytes/sha256.ts';

export interface LargeCall {
  readonly canisterId: Principal;
  readonly method: string;
  /** Result of argumentStart(): the Candid arguments without the final blob and its length. */
  readonly argumentStart: Uint8Array;
  readonly blob: Uint8Array;
  /** Nanoseconds since 1970. */
  readonly expiryNs: bigint;
  /** Undefined for the anonymous principal. */
  readonly identity: SignIdentity | undefined;
}

export interface Envelope {
  readonly body: Uint8Array;
  readonly requestId: Uint8Array;
}

export interface SplitEnvelope extends Envelope {
  /** Index of the blob's first byte in the body. */
  readonly blobStart: number;
}

const utf8 = new TextEncoder();
const nonceBytes = 16;
/** Room for the other fields without delegations; keys and signatures take a few hundred bytes. */
const otherBytesMax = 8_192;

/** Encodes Candid arguments (…, blob) up to the blob, whose length and bytes must be appended. */
export function argumentStart(types: IDL.Type[], values: unknown[]): Uint8Array {
  const encoded = IDL.encode([...types, IDL.Vec(IDL.Nat8)], [...values, new Uint8Array(0)]);
  return encoded.subarray(0, encoded.length - 1);
}

/** Builds and signs the envelope, in a buffer from takeBuffer(). */
export async function sealCall(
  call: LargeCall,
  takeBuffer: (length: number) => Uint8Array,
): Promise<SplitEnvelope> {
  const { identity, blob } = call;
  const start = concatBytes(call.argumentStart, leb128(BigInt(blob.length)));
  const small = {
    request_type: utf8.encode('call'),
    canister_id: call.canisterId.toUint8Array(),
    method_name: utf8.encode(call.method),
    sender: (identity?.getPrincipal() ?? Principal.anonymous()).toUint8Array(),
    nonce: crypto.getRandomValues(new Uint8Array(nonceBytes)),
  };
  const delegations = delegationsOf(identity);
  const otherBytes = otherBytesMax + (delegations?.length ?? 0);
  const writer = new CborWriter(takeBuffer(start.length + blob.length + otherBytes));
  writer.raw(selfDescribedTag);
  writer.map(identity === undefined ? 1 : delegations === undefined ? 3 : 4);
  writer.text('content');
  writer.map(7);
  for (const [name, value] of Object.entries(small)) {
    writer.text(name);
    if (textFields.has(name)) writer.head(majorText, value.length).raw(value);
    else writer.bytes(value);
  }
  writer.text('ingress_expiry');
  writer.head(majorNumber, call.expiryNs);
  writer.text('arg');
  writer.head(majorBytes, start.length + blob.length);
  const arg = writer
    .raw(start)
    .raw(blob)
    .written(start.length + blob.length);
  const blobStart = writer.length - blob.length;
  const fields = { ...small, ingress_expiry: leb128(call.expiryNs), arg };
  const requestId = await requestIdOf(fields);
  if (identity !== undefined) {
    const signed = concatBytes(IC_REQUEST_DOMAIN_SEPARATOR, requestId);
    writer.text('sender_pubkey').bytes(new Uint8Array(identity.getPublicKey().toDer()));
    writer.text('sender_sig').bytes(new Uint8Array(await identity.sign(signed)));
    if (delegations !== undefined) writer.text('sender_delegation').raw(delegations);
  }
  return { body: writer.written(), requestId, blobStart };
}

/** Returns the delegations, such as those of Internet Identity, in CBOR. */
function delegationsOf(identity: SignIdentity | undefined): Uint8Array | undefined {
  if (identity === undefined || !('getDelegation' in identity)) return undefined;
  const { delegations } = (identity as DelegationIdentity).getDelegation();
  return Cbor.encode(delegations).subarray(selfDescribedTag.length);
}

/** Like `sealCall` but slower, for identities that sign only whole requests. */
export async function sealCallBy(identity: Identity, call: Omit<LargeCall, 'identity'>) {
  const { canisterId, method, argumentStart: start, blob, expiryNs } = call;
  const content = {
    request_type: 'call',
    canister_id: canisterId,
    method_name: method,
    sender: identity.getPrincipal(),
    nonce: crypto.getRandomValues(new Uint8Array(nonceBytes)),
    ingress_expiry: expiryNs,
    arg: concatBytes(start, leb128(BigInt(blob.length)), blob),
  };
  const request = { endpoint: 'call', request: {}, body: content };
  const { body } = (await identity.transformRequest(request as never)) as {
    readonly body: { readonly content: Record<string, unknown> };
  };
  return { body: Cbor.encode(body), requestId: agentRequestIdOf(body.content) } satisfies Envelope;
}

/** Returns the request id: the hash over the sorted hashes of names and values. */
async function requestIdOf(fields: Readonly<Record<string, Uint8Array>>): Promise<Uint8Array> {
  const pairs = await Promise.all(
    Object.entries(fields).map(async ([name, value]) =>
      concatBytes(await sha256(utf8.encode(name)), await sha256(value)),
    ),
  );
  const inOrder = pairs
    .map((pair) => ({ pair, order: encodeHex(pair) }))
    .sort((left, right) => (left.order < right.order ? -1 : 1));
  return sha256(concatBytes(...inOrder.map(({ pair }) => pair)));
}

export function leb128(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 0x80 : low);
  } while (rest > 0n);
  return Uint8Array.from(bytes);
}

// RFC 8949 §3: major types and the head of an item.
const majorNumber = 0;
const majorBytes = 2;
const majorText = 3;
const majorMap = 5;
const selfDescribedTag = Uint8Array.of(0xd9, 0xd9, 0xf7);
const textFields: ReadonlySet<string> = new Set(['request_type', 'method_name']);

class CborWriter {
  readonly #buffer: Uint8Array;
  #end = 0;

  constructor(buffer: Uint8Array) {
    this.#buffer = buffer;
  }

  get length(): number {
    return this.#end;
  }

  raw(bytes: Uint8Array): this {
    this.#buffer.set(bytes, this.#end);
    this.#end += bytes.length;
    return this;
  }

  head(major: number, argument: number | bigint): this {
    const value = BigInt(argument);
    const start = major << 5;
    if (value < 24n) return this.raw(Uint8Array.of(start | Number(value)));
    const size = value < 0x100n ? 1 : value < 0x1_0000n ? 2 : value < 0x1_0000_0000n ? 4 : 8;
    const digits = value.toString(16).padStart(2 * size, '0');
    const bytes = digits.match(/../g)?.map((pair) => Number.parseInt(pair, 16)) ?? [];
    return this.raw(Uint8Array.of(start | (24 + Math.log2(size)), ...bytes));
  }

  map(count: number): this {
    return this.head(majorMap, count);
  }

  text(value: string): this {
    const bytes = utf8.encode(value);
    return this.head(majorText, bytes.length).raw(bytes);
  }

  bytes(value: Uint8Array): this {
    return this.head(majorBytes, value.length).raw(value);
  }

  /** Returns a view of the written bytes, or of the last `length` of them. */
  written(length: number = this.#end): Uint8Array {
    return this.#buffer.subarray(this.#end - length, this.#end);
  }
}
