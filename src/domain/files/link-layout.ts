// The records of links, in the map of files after a byte 1, which no bucket id has:
//
//   1 | id    -> 0: version 2 or 3 | SHA-256 of the secret 32 | created u64 | expires u64, 0 for
//                never | flags u8: 1 made by a member | maker (length, bytes) | key hash (length,
//                bytes) | parts u32
//                | in version 3: sealed secret (length, bytes), none without a password | maximum
//                of downloads u32, 0 for none | bytes read u64 | size of the file then u64
//                | spent tries u32, in thousandths | when u64
//                | texts: bucket id, path, name, download name, and in version 3 the title
//
// Links without password, maximum and title keep version 2.

import { encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import type { Stores } from '../shared/stores.ts';

export interface Link {
  readonly id: string;
  /** SHA-256 of the secret. */
  readonly hash: Uint8Array;
  readonly bucketId: string;
  readonly path: string;
  /** The last segment of its address. */
  readonly name: string;
  /** The name under which browsers save the file; '' to display it as usual. */
  readonly downloadName: string;
  readonly createdAtNs: bigint;
  /** 0n: never. */
  readonly expiresAtNs: bigint;
  /** Principal that created it, and the hash of the key that it used; empty without a key. */
  readonly maker: Uint8Array;
  readonly keyHash: Uint8Array;
  /** Whether the creator was a member of the bucket, but not an owner. */
  readonly isMembers: boolean;
  /** Number of chunks with certified leaves, as the bucket has counted them. */
  readonly partCount: number;
  /** The secret of the address, sealed with the proof of the password; see link-passwords.ts. */
  readonly sealedSecret?: Uint8Array | undefined;
  /** Wrong passwords; `undefined` before the first one. */
  readonly tries?: LinkTries | undefined;
  readonly limit?: DownloadLimit | undefined;
  /** Title of the page that messengers show; `undefined`: the link has no page. */
  readonly title?: string | undefined;
}

export interface LinkTries {
  /** Thousandths of tries that were spent at that time; see link-passwords.ts. */
  readonly spent: number;
  readonly atNs: bigint;
}

/** A maximum of downloads, counted by bytes; see link-downloads.ts. */
export interface DownloadLimit {
  readonly downloadsMax: number;
  /** Bytes of the file that were read, in proportion to `fileBytes`. */
  readonly readBytes: number;
  /** The size of the file when it was last read; 0 before. */
  readonly fileBytes: number;
}

const version = 2;
const boundedVersion = 3;
const membersFlag = 1;
const noBytes = new Uint8Array(0);

/** Ids are shorter than the 64 characters that are used, since keys of the map have a maximum. */
function mapKeyOf(id: string): Uint8Array {
  return encodeUtf8(`\x01${id.slice(0, 64)}`);
}

function encodeLink(link: Link): Uint8Array {
  const { bucketId, path, name, downloadName, sealedSecret, limit, title } = link;
  const isBounded = (sealedSecret ?? limit ?? title) !== undefined;
  const record = new RecordWriter(isBounded ? boundedVersion : version)
    .bytes(link.hash)
    .u64(link.createdAtNs)
    .u64(link.expiresAtNs)
    .u8(link.isMembers ? membersFlag : 0)
    .bytes(link.maker)
    .bytes(link.keyHash)
    .u32(link.partCount);
  if (isBounded) {
    const { downloadsMax = 0, readBytes = 0, fileBytes = 0 } = limit ?? {};
    record.bytes(sealedSecret ?? noBytes);
    record.u32(downloadsMax).u64(readBytes).u64(fileBytes);
    record.u32(link.tries?.spent ?? 0).u64(link.tries?.atNs ?? 0n);
  }
  const texts = [bucketId, path, name, downloadName];
  return record.finish(isBounded ? [...texts, title ?? ''] : texts);
}

export function findLink(stores: Stores, id: string): Link | undefined {
  const stored = stores.records.get(mapKeyOf(id));
  if (stored === undefined) return undefined;
  const reader = new RecordReader(stored, version, boundedVersion);
  const hash = reader.bytes();
  const createdAtNs = reader.u64();
  const expiresAtNs = reader.u64();
  const isMembers = reader.u8() === membersFlag;
  const maker = reader.bytes();
  const keyHash = reader.bytes();
  const partCount = reader.u32();
  const bounds = reader.version === boundedVersion ? readBounds(reader) : undefined;
  const [bucketId = '', path = '', name = '', downloadName = '', title = ''] = reader.texts();
  const address = { bucketId, path, name, downloadName, title: title || undefined };
  const made = { createdAtNs, expiresAtNs, isMembers, maker, keyHash, partCount };
  return { id, hash, ...made, ...address, ...bounds };
}

function readBounds(reader: RecordReader): Pick<Link, 'sealedSecret' | 'limit' | 'tries'> {
  const sealed = reader.bytes();
  const downloadsMax = reader.u32();
  const limit = { downloadsMax, readBytes: reader.integer(), fileBytes: reader.integer() };
  const tries = { spent: reader.u32(), atNs: reader.u64() };
  return {
    sealedSecret: sealed.length > 0 ? sealed : undefined,
    limit: downloadsMax > 0 ? limit : undefined,
    tries: tries.spent > 0 ? tries : undefined,
  };
}

export function storeLink(stores: Stores, link: Link): void {
  stores.records.set(mapKeyOf(link.id), encodeLink(link));
}

export function deleteStoredLink(stores: Stores, link: Link): void {
  stores.records.delete(mapKeyOf(link.id));
}
