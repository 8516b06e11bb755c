// Entries of the journal as the kernel opens them (kernel/journal-reading.ts).

import { sha256 } from '../../crypto/hash.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8 } from '../../lib/text.ts';
import type { Encoded } from '../../storage/journal-log.ts';
import { type EntryKind, entryKinds } from '../shared/journal.ts';
import { type Actor, actorKinds, detailsHead } from './bucket-journal.ts';

const nsPerMs = 1_000_000n;
const two32 = 0x1_0000_0000;
const headBytes = 54;
const tagBytes = 16;
const keyBytes = 32;
const saltBytes = 16;
const hashBytes = 32;
const redactedFlag = 128;
const paddingMask = 127;

export interface OpenedEntry {
  /** From 1, without gaps in the canister. */
  readonly seq: number;
  readonly atNs: bigint;
  readonly kind: EntryKind;
  readonly actor: Actor;
  /** Empty if an owner has redacted the entry. */
  readonly subject: string;
  readonly isRedacted: boolean;
  /** 0: none. */
  readonly version: number;
  /** 32 bytes or none. */
  readonly digest: Uint8Array;
  /** The rest of the entry, to which its block commits together with the subject. */
  readonly details: Uint8Array;
  /** The hash of the subject of a redacted entry, 32 bytes. */
  readonly subjectHash: Uint8Array | undefined;
}

/** An entry with the salts of its commitment, 16 bytes each. */
export interface ProvedEntry extends OpenedEntry {
  readonly salts: { readonly details: Uint8Array; readonly subject: Uint8Array };
}

/** `keys`: of the bucket's journal. */
export function entrySalts(number: number, keys: Uint8Array): ProvedEntry['salts'] {
  const count = new Uint8Array(8);
  new DataView(count.buffer).setBigUint64(0, BigInt(number), true);
  const salts = sha256(concatBytes(keys.subarray(keyBytes), count));
  return { details: salts.subarray(0, saltBytes), subject: salts.subarray(saltBytes) };
}

// 0: number u64 | length u16 | kind u8 | padding and flag u8 | distance u32 | milliseconds u48 |
// commitment 32 | content, see kernel/journal-pages.ts; the length counts the tag of the seal too
export function openedEntries({ bytes, count }: Encoded): OpenedEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const entries: OpenedEntry[] = [];
  for (let start = 0; entries.length < count; ) {
    const end = start + 8 + view.getUint16(start + 8, true) - tagBytes;
    const padding = view.getUint8(start + 11);
    const ms = view.getUint32(start + 16, true) + view.getUint16(start + 20, true) * two32;
    entries.push({
      seq: Number(view.getBigUint64(start, true)),
      atNs: BigInt(ms) * nsPerMs,
      kind: entryKinds[view.getUint8(start + 10)] ?? 'file.changed',
      isRedacted: padding >= redactedFlag,
      ...contentOf(bytes.subarray(start + headBytes, end), padding),
    });
    start = end;
  }
  return entries;
}

function contentOf(content: Uint8Array, padding: number) {
  const head = content[0] ?? 0;
  const idEnd = 1 + (head & detailsHead.idLength);
  const { value: version, end } = readLeb128(content, idEnd);
  const subjectAt = end + (head & detailsHead.hasDigest ? hashBytes : 0);
  const subjectEnd = content.length - (padding & paddingMask);
  const isRedacted = padding >= redactedFlag;
  const subject = isRedacted ? '' : (decodeUtf8(content.subarray(subjectAt, subjectEnd)) ?? '');
  return {
    actor: {
      kind: actorKinds[head >> detailsHead.kindShift] ?? 'canister',
      id: content.slice(1, idEnd),
    },
    subject,
    version,
    digest: content.slice(end, subjectAt),
    details: content.slice(0, subjectAt),
    subjectHash: isRedacted ? content.slice(subjectAt, subjectAt + hashBytes) : undefined,
  };
}

function readLeb128(bytes: Uint8Array, start: number) {
  let value = 0;
  let end = start;
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[end++] ?? 0;
    value += (byte & 127) * factor;
    if (byte < 128) return { value, end };
  }
}
