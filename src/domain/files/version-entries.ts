// The stored former versions: their names, the heads of their records, and when they expire. In the
// map of files, after a NUL, which no bucket id has:
//
//   0 | bucket id | 0 | path | 0 | version, decimal
//     -> 0: version 1 | retired at u64 | sequence number u64 | file record
//
// The record is unchanged, and its seal includes its former map key. The sequence number is that of
// its date in the index of files. In the directory:
//
//   8 | bucket id | 0 | path | 0 | version u32, big-endian             -> its expiry, ns
//   9 | expiry u64 | bucket id | 0 | path | 0 | version u32, big-endian
//       -> the expiry that its bucket gave it, ns, if rules set an earlier one; else 0

import { present } from '../../lib/assert.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter, u64Key } from '../../storage/codec.ts';
import { dueNames, entriesUnder, firstDueNs } from '../../storage/index-ranges.ts';
import type { Stores } from '../shared/stores.ts';

const recordVersion = 1;
const recordHeadBytes = 17;
const kinds = { ofPath: 8, due: 9 } as const;
const numberBytes = 4;
const versionMax = 0xffff_ffff;

/** The name of a former version. */
export interface VersionName {
  readonly bucketId: string;
  readonly path: string;
  readonly version: number;
}

function mapKeyOf({ bucketId, path, version }: VersionName): Uint8Array {
  return encodeUtf8(`\0${bucketId}\0${path}\0${version}`);
}

/** The stored record of a former version. */
export interface StoredVersion {
  readonly retiredAtNs: bigint;
  /** Its number in the index of dates. */
  readonly sequence: number;
  /** The file's record as it was sealed. */
  readonly record: Uint8Array;
}

export function storeVersion(stores: Stores, name: VersionName, version: StoredVersion): void {
  const { retiredAtNs, sequence, record } = version;
  const head = new RecordWriter(recordVersion).u64(retiredAtNs).u64(sequence).finish([]);
  stores.records.set(mapKeyOf(name), concatBytes(head, record));
}

export function storedVersion(stores: Stores, name: VersionName): StoredVersion | undefined {
  return readStored(stores.records.get(mapKeyOf(name)));
}

/** Replaces the file's record of a former version, whose dates stay. */
export function replaceRecord(stores: Stores, name: VersionName, record: Uint8Array): void {
  const key = mapKeyOf(name);
  const head = present(stores.records.get(key), 'a former version').slice(0, recordHeadBytes);
  stores.records.set(key, concatBytes(head, record));
}

/** Removes the record and returns it. */
export function takeStored(stores: Stores, name: VersionName): StoredVersion | undefined {
  return readStored(stores.records.delete(mapKeyOf(name)));
}

function readStored(stored: Uint8Array | undefined): StoredVersion | undefined {
  if (stored === undefined) return undefined;
  const head = new RecordReader(stored, recordVersion);
  const [retiredAtNs, sequence] = [head.u64(), head.integer()];
  return { retiredAtNs, sequence, record: stored.slice(recordHeadBytes) };
}

/** Returns the name in the form in which both keys of the directory contain it. */
function nameBytes({ bucketId, path, version }: VersionName): Uint8Array {
  const number = new Uint8Array(numberBytes);
  new DataView(number.buffer).setUint32(0, version);
  return concatBytes(encodeUtf8(`${bucketId}\0${path}\0`), number);
}

function readName(bytes: Uint8Array): VersionName {
  const at = bytes.length - numberBytes;
  const version = new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
  const [bucketId = '', path = ''] = (decodeUtf8(bytes.subarray(0, at)) ?? '').split('\0');
  return { bucketId, path, version };
}

function pathKey(name: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.ofPath), name);
}

function dueKey(atNs: bigint, name: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(kinds.due), u64Key(atNs), name);
}

export interface Expiry {
  /** When the version is erased. */
  readonly atNs: bigint;
  /** When it would be erased without rules; equal or later. */
  readonly ownNs: bigint;
}

export function noteVersion(stores: Stores, version: VersionName, { atNs, ownNs }: Expiry): void {
  const name = nameBytes(version);
  stores.directory.insert(pathKey(name), atNs);
  stores.directory.insert(dueKey(atNs, name), ownNs === atNs ? 0n : ownNs);
}

/** Returns when the version is erased; undefined if it does not exist. */
export function versionExpiryNs({ directory }: Stores, version: VersionName): bigint | undefined {
  return directory.find(pathKey(nameBytes(version)));
}

export function findExpiry({ directory }: Stores, version: VersionName): Expiry | undefined {
  const name = nameBytes(version);
  const atNs = directory.find(pathKey(name));
  if (atNs === undefined) return undefined;
  return { atNs, ownNs: directory.find(dueKey(atNs, name)) || atNs };
}

/** The expiry of a version that only a removed hold can end; it is not noted as due. */
export const neverNs = 2n ** 64n - 1n;

/** Changes the expiry, but not the one without rules. */
export function changeExpiry(
  { directory }: Stores,
  version: VersionName,
  { fromNs, toNs }: { readonly fromNs: bigint; readonly toNs: bigint },
): void {
  const name = nameBytes(version);
  const ownNs = fromNs === neverNs ? toNs : directory.remove(dueKey(fromNs, name)) || fromNs;
  directory.insert(pathKey(name), toNs);
  if (toNs !== neverNs) directory.insert(dueKey(toNs, name), ownNs === toNs ? 0n : ownNs);
}

/** Removes the entries of the version; returns its expiry, or undefined if it does not exist. */
export function forgetVersion({ directory }: Stores, version: VersionName): bigint | undefined {
  const name = nameBytes(version);
  const atNs = directory.remove(pathKey(name));
  if (atNs !== undefined) directory.remove(dueKey(atNs, name));
  return atNs;
}

export interface VersionRange {
  readonly bucketId: string;
  /** Restricts to this path; absent: all paths that begin with the prefix. */
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  /** Begins after this version. */
  readonly after?: VersionName | undefined;
}

/** Returns names of former versions by path, the oldest first. */
export function versionNames(stores: Stores, range: VersionRange, limit: number): VersionName[] {
  const { directory } = stores;
  const { bucketId, path, prefix = '', after } = range;
  const scope = pathKey(encodeUtf8(`${bucketId}\0${path === undefined ? prefix : `${path}\0`}`));
  const first =
    after === undefined ? scope : concatBytes(pathKey(nameBytes(after)), Uint8Array.of(0));
  // UTF-8 never contains byte 0xff, and the bytes of a version number never begin with it
  const entries = entriesUnder(directory, { scope, first, limit });
  return entries.map(({ key }) => readName(key.subarray(1)));
}

/** A path of a bucket. */
type Place = Omit<VersionName, 'version'>;

/** Returns the former version of the path that so many later ones follow; 0 for the latest. */
export function versionBefore(
  { directory }: Stores,
  { bucketId, path }: Place,
  later: number,
): VersionName | undefined {
  const rank = directory.rank(pathKey(nameBytes({ bucketId, path, version: versionMax }))) - 1;
  const [entry] = rank < later ? [] : directory.read(rank - later, 1);
  if (entry?.key[0] !== kinds.ofPath) return undefined;
  const found = readName(entry.key.subarray(1));
  return found.bucketId === bucketId && found.path === path ? found : undefined;
}

/** Returns the number of later former versions of the same path. */
export function countLater({ directory }: Stores, { version, ...place }: VersionName): number {
  const end = directory.rank(pathKey(nameBytes({ ...place, version: versionMax })));
  return end - 1 - directory.rank(pathKey(nameBytes({ ...place, version })));
}

export function nextVersionExpiryNs({ directory }: Stores): bigint | undefined {
  return firstDueNs(directory, kinds.due);
}

/** Returns the first versions that have expired. */
export function expiredVersions(stores: Stores, nowNs: bigint, limit: number): VersionName[] {
  return dueNames(stores.directory, { kind: kinds.due, nowNs }, limit).map(readName);
}
