// Streaming: after an update returns the first bytes of a file, queries return the rest. Each such
// query sends a token. The token is sealed with a key derived from the root key, so it gives access
// only to the bytes that it names, for ten minutes.
//
//   nonce 12 | sealed: version 1 | content u64 | key slot u64 | size u64 | chunk size u32
//     | start u64 | end u64 | expires u64 | is public u8 | texts: bucket id
//
// The nonce is a MAC of the sealed data (a synthetic nonce, RFC 8452 §1), because queries have no
// randomness: the same token always has the same bytes.

import { aeadNonceBytes, open, seal } from '../../crypto/aead.ts';
import { hkdfSha256, hmacSha256 } from '../../crypto/kdf.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { knownStreamCountMax, streamLifetimeNs, streamPieceBytes } from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { findBucket } from '../buckets/buckets.ts';
import { type Content, readContent } from '../contents/contents.ts';
import { hasFileKey, type SealedContent, withFileKey } from '../keys/file-keys.ts';
import { currentRootKey } from '../keys/root-keys.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

const version = 1;
const keyText = 'encrypted-file-storage/stream-token/v1';
const keyBytes = 32;

interface Stream {
  readonly file: SealedContent & Content & { readonly bucketId: string };
  /** Whether the bucket was public when the stream began. */
  readonly isPublic: boolean;
  /** Bytes `[start, end)` of the file remain. */
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the token of a stream. If an update begins the stream and the file is replaced, its
 * content stays for it; a query cannot record that it began one.
 */
export function openStream(stores: Stores, call: Call, stream: Stream): Uint8Array {
  const expiresAtNs = call.nowNs + streamLifetimeNs;
  noteStream(stores, stream.file.contentId, expiresAtNs);
  return sealToken(stores, { ...stream, expiresAtNs });
}

export interface StreamPiece {
  readonly body: Uint8Array;
  /** Absent after the last bytes. */
  readonly token: Uint8Array | undefined;
}

/** Returns the next bytes, at most 1,900,000. Refuses an invalid or expired token. */
export function readStream(stores: Stores, call: Call, token: Uint8Array): StreamPiece {
  const stream = openToken(stores, token);
  const { file, start } = stream;
  const bucket = findBucket(stores, file.bucketId);
  const isGone = bucket === undefined || (stream.isPublic && !bucket.isPublic);
  if (isGone || stream.expiresAtNs <= call.nowNs || !hasFileKey(stores, file)) {
    throw new Refusal(
      'InvalidArgument',
      'This download has expired, or its file was replaced or deleted; start it again.',
    );
  }
  const end = Math.min(stream.end, start + streamPieceBytes);
  const body = withFileKey(stores, { ...file, bucket }, (key) =>
    readContent(stores, file, { start, end, key }),
  );
  const isLast = end === stream.end;
  return { body, token: isLast ? undefined : sealToken(stores, { ...stream, start: end }) };
}

interface TimedStream extends Stream {
  readonly expiresAtNs: bigint;
}

interface TokenKeys {
  readonly key: Uint8Array;
  readonly nonceKey: Uint8Array;
}

/** Keys of tokens by root key; an entry is freed together with its root key. */
const keysOfRoot = new WeakMap<Uint8Array, TokenKeys>();

/** Returns the key of tokens and the key of their nonces. */
function tokenKeys(stores: Stores): TokenKeys {
  const { key: rootKey } = currentRootKey(stores);
  const keys = keysOfRoot.get(rootKey) ?? deriveTokenKeys(rootKey);
  keysOfRoot.set(rootKey, keys);
  return keys;
}

function deriveTokenKeys(keyMaterial: Uint8Array): TokenKeys {
  const info = encodeUtf8(keyText);
  const keys = hkdfSha256({ keyMaterial, salt: emptyBytes, info, length: 2 * keyBytes });
  return { key: keys.subarray(0, keyBytes), nonceKey: keys.subarray(keyBytes) };
}

function sealToken(stores: Stores, stream: TimedStream): Uint8Array {
  const { file, start, end, expiresAtNs, isPublic } = stream;
  const plaintext = new RecordWriter(version)
    .u64(file.contentId)
    .u64(file.keySlot)
    .u64(file.size)
    .u32(file.chunkSize)
    .u64(start)
    .u64(end)
    .u64(expiresAtNs)
    .u8(isPublic ? 1 : 0)
    .finish([file.bucketId]);
  const { key, nonceKey } = tokenKeys(stores);
  const nonce = hmacSha256(nonceKey, plaintext).subarray(0, aeadNonceBytes);
  return concatBytes(nonce, seal({ key, nonce, associatedData: emptyBytes, plaintext }));
}

function openToken(stores: Stores, token: Uint8Array): TimedStream {
  const nonce = token.subarray(0, aeadNonceBytes);
  const sealed = token.subarray(aeadNonceBytes);
  const { key } = tokenKeys(stores);
  const isToken = token.length > tokenBytesMin && token.length <= tokenBytesMax;
  const plaintext = isToken ? open({ key, nonce, associatedData: emptyBytes, sealed }) : undefined;
  if (plaintext === undefined) {
    throw new Refusal('InvalidArgument', 'The streaming token is invalid or too old.');
  }
  const reader = new RecordReader(plaintext, version);
  const content = { contentId: reader.integer(), keySlot: reader.integer() };
  const layout = { size: reader.integer(), chunkSize: reader.u32() };
  const range = { start: reader.integer(), end: reader.integer() };
  const rest = { expiresAtNs: reader.u64(), isPublic: reader.u8() === 1 };
  const [bucketId = ''] = reader.texts();
  return { file: { ...content, ...layout, bucketId }, ...range, ...rest };
}

/** Minimum: nonce and tag; maximum: with the longest bucket id. */
const tokenBytesMin = 28;
const tokenBytesMax = 256;

/** Records until when the content may be read, if there is space for the record. */
function noteStream(stores: Stores, contentId: number, expiresAtNs: bigint): void {
  const { streams } = stores.heap;
  if (streams.size >= knownStreamCountMax && !streams.has(contentId)) {
    for (const [id, until] of streams)
      if (until < expiresAtNs - streamLifetimeNs) streams.delete(id);
  }
  if (streams.size < knownStreamCountMax) streams.set(contentId, expiresAtNs);
}

/** Returns when streams of the content end at the latest; `undefined` without a stream. */
export function streamedUntilNs(
  stores: Stores,
  contentId: number,
  nowNs: bigint,
): bigint | undefined {
  const until = stores.heap.streams.get(contentId);
  return until !== undefined && until > nowNs ? until : undefined;
}
