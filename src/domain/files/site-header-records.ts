// The header fields of a site's files in stable memory. In `records`, 6 | bucket id | NUL |
//
//   'r'            version 1 | texts: the path, the number of fields, and the names and values of
//                  each rule
//   'f' and path   version 1 | texts: names and values in the leaves of that file
//
// A file has a record of the second kind while its leaves have version 5. So each answer has the
// fields that its leaf certifies, while a change of the rules renews the files one by one.

import { bytesEqual, concatBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import type { Bucket } from '../buckets/buckets.ts';
import {
  type LeavesVersion,
  leavesVersionOf,
  ownLeavesVersion,
  presentLeavesVersion,
} from '../shared/publication.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { fieldsOf, type HeaderRule, type SiteField } from './site-headers.ts';
import { isStaged } from './site-paths.ts';

const recordKind = 6;
const version = 1;

function recordKey(bucketId: string, text: string): Uint8Array {
  return concatBytes(Uint8Array.of(recordKind), encodeUtf8(`${bucketId}\0${text}`));
}

/** Replaces all rules of the bucket; returns whether any has changed. */
export function saveHeaderRules(
  { records }: Stores,
  bucketId: string,
  rules: readonly HeaderRule[],
): boolean {
  const key = recordKey(bucketId, 'r');
  if (rules.length === 0) return records.delete(key) !== undefined;
  const texts = rules.flatMap(({ from, fields }) => [from, `${fields.length}`, ...fields.flat()]);
  const record = new RecordWriter(version).finish(texts);
  const former = records.set(key, record);
  return former === undefined || !bytesEqual(former, record);
}

function headerRules({ records }: Stores, bucketId: string): HeaderRule[] {
  const stored = records.get(recordKey(bucketId, 'r'));
  const texts = stored === undefined ? [] : new RecordReader(stored, version).texts();
  const rules: HeaderRule[] = [];
  for (let at = 0; at < texts.length; ) {
    const end = at + 2 + 2 * Number(texts[at + 1]);
    rules.push({ from: texts[at] ?? '', fields: fieldsIn(texts.slice(at + 2, end)) });
    at = end;
  }
  return rules;
}

function fieldsIn(texts: readonly string[]): SiteField[] {
  const fields: SiteField[] = [];
  for (let at = 0; at < texts.length; at += 2) {
    fields.push([texts[at] ?? '', texts[at + 1] ?? '']);
  }
  return fields;
}

/** The part of a file's record that says which leaves it has, or should have. */
export interface Leaves {
  readonly leavesVersion: LeavesVersion;
  readonly siteHeaders?: readonly SiteField[] | undefined;
}

/** Returns what the leaves of the file in the bucket should have. */
export function wantedLeaves(stores: Stores, bucket: Bucket, path: string): Leaves {
  if (isStaged(path)) return { leavesVersion: presentLeavesVersion, siteHeaders: undefined };
  const siteHeaders = bucket.isSite ? fieldsOf(headerRules(stores, bucket.id), path) : [];
  if (siteHeaders.length > 0) return { leavesVersion: ownLeavesVersion, siteHeaders };
  return { leavesVersion: leavesVersionOf(bucket), siteHeaders: undefined };
}

export function hasLeaves(file: Leaves, wanted: Leaves): boolean {
  const [own, other] = [file, wanted].map(({ siteHeaders = [] }) => siteHeaders.flat().join('\0'));
  return file.leavesVersion === wanted.leavesVersion && own === other;
}

type NamedFile = Pick<FileRecord, 'bucketId' | 'path'>;

/** Stores the fields of the file that is at its path now, or removes those of the one before. */
export function saveOwnHeaders(
  { records }: Stores,
  { bucketId, path }: NamedFile,
  siteHeaders: readonly SiteField[] | undefined,
): void {
  const key = recordKey(bucketId, `f${path}`);
  if (siteHeaders === undefined) records.delete(key);
  else records.set(key, new RecordWriter(version).finish(siteHeaders.flat()));
}

/** Returns the file with the fields in its leaves. */
export function withOwnHeaders({ records }: Stores, file: FileRecord): FileRecord {
  if (file.leavesVersion !== ownLeavesVersion) return file;
  const stored = records.get(recordKey(file.bucketId, `f${file.path}`));
  if (stored === undefined) return file;
  return { ...file, siteHeaders: fieldsIn(new RecordReader(stored, version).texts()) };
}
