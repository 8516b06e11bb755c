// Computes the size of a request to a subnet: the whole CBOR envelope of an anonymous call, as the
// boundary node's agent sends it. IC spec, "HTTPS Interface", authentication envelope.

import { encode } from 'cborg';

/** Limit of ingress on an application subnet: for the whole envelope. */
export const ingressEnvelopeBytesMax = 2_097_152;
/** Maximum bytes of a request body that a replica reads, such as a query's envelope. */
export const queryEnvelopeBytesMax = 5 * 1_024 * 1_024;
/** `--ic-response-max-size` of the gateway: for the whole CBOR answer of a replica. */
export const queryResponseBytesMax = 3_145_728;

const selfDescribeTagBytes = 3;
const anonymousSenderBytes = 1;
const nonceBytes = 16;
/** A nanosecond time takes 9 bytes in CBOR, so any such number gives the same size. */
const someExpiry = 1_800_000_000_000_000_000n;

export interface EnvelopeShape {
  readonly kind: 'call' | 'query';
  readonly method: string;
  readonly canisterIdBytes: number;
  readonly argBytes: number;
}

/** Returns the size of the anonymous envelope around an argument. */
export function envelopeBytes(shape: EnvelopeShape): number {
  const content = {
    request_type: shape.kind,
    canister_id: new Uint8Array(shape.canisterIdBytes),
    method_name: shape.method,
    arg: new Uint8Array(0),
    sender: new Uint8Array(anonymousSenderBytes),
    ingress_expiry: someExpiry,
    ...(shape.kind === 'call' ? { nonce: new Uint8Array(nonceBytes) } : {}),
  };
  const empty = selfDescribeTagBytes + encode({ content }).length;
  return empty - 1 + byteStringHeadBytes(shape.argBytes) + shape.argBytes;
}

/** Returns the size of a replica's answer to a query: the reply with one node's signature. */
export function queryResponseBytes(replyBytes: number): number {
  const answer = {
    status: 'replied',
    reply: { arg: new Uint8Array(0) },
    signatures: [
      { timestamp: someExpiry, signature: new Uint8Array(64), identity: new Uint8Array(29) },
    ],
  };
  const empty = selfDescribeTagBytes + encode(answer).length;
  return empty - 1 + byteStringHeadBytes(replyBytes) + replyBytes;
}

/** RFC 8949 §3: the length is in the first byte, or in 1, 2 or 4 bytes after it. */
function byteStringHeadBytes(length: number): number {
  if (length < 24) return 1;
  if (length < 0x100) return 2;
  return length < 0x1_0000 ? 3 : 5;
}
