// Changes of a file's type, tags, headers and metadata; its bytes and their key stay. A present
// field replaces the whole old one, and absent fields keep their values.

import { type Bucket, saveBucket, storedContentType } from '../buckets/buckets.ts';
import { checkQuota, overheadBytesOf } from '../buckets/quota.ts';
import { chunkDigests } from '../contents/digest-tables.ts';
import { chargeWork } from '../rights/key-budgets.ts';
import { authorize, type Grant, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { type Metadata, parseMetadata } from '../shared/file-metadata.ts';
import { parseFilePath, parseTags } from '../shared/names.ts';
import { checkWritePreconditions, type WritePreconditions } from '../shared/preconditions.ts';
import { Refusal } from '../shared/refusal.ts';
import { parseStoredHeaders, type SentHeaders } from '../shared/stored-headers.ts';
import { nextContentId, type Stores } from '../shared/stores.ts';
import { leavesOfChange } from './bulk-work.ts';
import type { FileMetadata } from './file-fields.ts';
import {
  addVersion,
  entityTag,
  type FileRecord,
  findFile,
  noteFile,
  withFileCounted,
  withOpenFile,
} from './file-records.ts';
import { refuseMissing } from './files.ts';
import { requireNotHeld } from './retention.ts';
import { type ShownField, shownToWriter, type WrittenFile } from './written-files.ts';

export interface ChangedNotes {
  readonly contentType?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Stored headers that are absent here are cleared. */
  readonly headers?: SentHeaders | undefined;
  readonly metadata?: Metadata | undefined;
}

export interface FileChange extends ChangedNotes {
  readonly bucket: string;
  readonly path: string;
  readonly conditions: WritePreconditions;
  readonly apiKey: SentKey;
}

interface Prepared {
  readonly grant: Grant;
  readonly bucket: Bucket;
  readonly file: FileRecord;
  readonly changed: Partial<FileMetadata>;
}

/** Refuses what changeFile() would refuse, except for a damaged file; changes nothing. */
export function checkFileChange(stores: Stores, call: Call, change: FileChange): Prepared {
  const { bucket: name, path: sent, apiKey } = change;
  const claim = { bucket: name, path: sent, permission: 'write', apiKey } as const;
  const grant = authorize(stores, call, claim);
  const { bucket } = grant;
  const path = parseFilePath(sent);
  const changed = parseNotes(bucket, change);
  if (Object.keys(changed).length === 0) {
    throw new Refusal(
      'InvalidArgument',
      'The request changes nothing: send contentType, tags, headers or metadata.',
    );
  }
  const found = findFile(stores, bucket.id, path) ?? refuseMissing(bucket, path);
  checkWritePreconditions(entityTag(found), change.conditions);
  const file = requireNotHeld(found, { nowNs: call.nowNs });
  const bytes = overheadBytesOf({ ...file, ...changed }) - overheadBytesOf(file);
  checkQuota(bucket, { files: 0, bytes });
  return { grant, bucket, file, changed };
}

/** Parses the properties that a change gives to a file in the bucket. */
export function parseNotes(
  bucket: Bucket,
  { contentType, tags, headers, metadata }: ChangedNotes,
): Partial<FileMetadata> {
  return {
    ...(contentType === undefined ? {} : { contentType: storedContentType(bucket, contentType) }),
    ...(tags === undefined ? {} : { tags: parseTags(tags) }),
    ...(headers === undefined ? {} : { headers: parseStoredHeaders(headers) }),
    ...(metadata === undefined ? {} : { metadata: parseMetadata(metadata) }),
  };
}

/** Returns the record fields that the change sets. */
function namedFields(change: ChangedNotes): readonly ShownField[] {
  const names = ['contentType', 'tags', 'metadata'] as const;
  return names.filter((name) => change[name] !== undefined);
}

/** Increments the file's version and keeps the entity tag of its bytes. */
export function changeFile(stores: Stores, call: Call, change: FileChange): WrittenFile {
  const { grant, bucket, file: old, changed } = checkFileChange(stores, call, change);
  chargeWork(stores, call, { key: grant.key, leaves: leavesOfChange(stores, bucket, old) });
  const replaced = { nowNs: call.nowNs, bucket, old };
  const added = withOpenFile(stores, { bucket, path: old.path }, ({ file, key }) => {
    const digests = chunkDigests(stores, file);
    const sealNumber = nextContentId(stores);
    const newFile = { ...file, ...changed, chunkDigests: digests, key, sealNumber };
    return addVersion(stores, newFile, replaced);
  });
  if (added === undefined) return refuseMissing(bucket, old.path);
  const { file, record } = added;
  saveBucket(stores, withFileCounted(bucket, file, { old }), bucket);
  noteFile(stores, 'file.changed', file);
  return shownToWriter(grant, { file, record, isNew: false }, namedFields(change));
}
