// Uploads of many small files in one message: either all are stored or none. Each file has its own
// result, so that one fault does not hide another.

import { batchFileCountMax, singleUploadBytesMax } from '../../../packages/wire/src/limits.ts';
import { sha256 } from '../../crypto/hash.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { checkQuota } from '../buckets/quota.ts';
import { createWorkLimit, leavesOfRenewal, leavesOfReplacement } from '../files/bulk-work.ts';
import { shownToWriter, uploadedFields, type WrittenFile } from '../files/written-files.ts';
import { chargeWork } from '../rights/key-budgets.ts';
import { authorize, type Grant, type SentKey } from '../rights/rights.ts';
import { checkFileCount, countFiles } from '../rights/upload-bounds.ts';
import type { Call } from '../shared/caller.ts';
import { quote } from '../shared/names.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import {
  type PreparedFile,
  prepareFile,
  requireDigest,
  type SentFile,
  storeFile,
} from './single-upload.ts';

export interface BatchFile {
  /** The path as sent. */
  readonly path: string;
  /** Parses the file's part of the request; a refusal concerns only this file. */
  read(): Omit<SentFile, 'path'>;
}

export interface Batch {
  readonly bucket: string;
  readonly apiKey: SentKey;
  /** Parses the files after the caller's right is checked; a refusal concerns the whole batch. */
  readFiles(): readonly BatchFile[];
}

/** The outcome of one file of a batch. */
export type BatchResult = { readonly path: string } & (
  | { readonly stored: WrittenFile; readonly refusal?: undefined }
  | { readonly refusal: Refusal; readonly stored?: undefined }
);

type Refused = Extract<BatchResult, { refusal: Refusal }>;
type Prepared = PreparedFile & { readonly digest: Uint8Array };

/**
 * Returns the answer of uploadBatch() if it would refuse a file, except for a wrong digest; else
 * undefined. For queries. Throws what refuses the whole batch. Changes nothing.
 */
export function checkBatch(
  stores: Stores,
  call: Call,
  batch: Batch,
): readonly Refused[] | undefined {
  const { grant, files } = openBatch(stores, call, batch);
  return prepareAll(
    files,
    ({ path, read }) => prepareFile(stores, grant, { path, ...read() }, call.nowNs),
    {
      stores,
      bucket: grant.bucket,
    },
  ).refused;
}

/**
 * Stores all files, or none if one is refused; valid files are then refused as NotStored. Throws
 * what refuses the whole batch: a missing right, more than 200 files or 2,000,000 bytes, a repeated
 * path, a quota.
 */
export function uploadBatch(stores: Stores, call: Call, batch: Batch): readonly BatchResult[] {
  const { grant, files } = openBatch(stores, call, batch);
  const { prepared, refused } = prepareAll(
    files,
    ({ path, read }) => withDigest(prepareFile(stores, grant, { path, ...read() }, call.nowNs)),
    { stores, bucket: grant.bucket },
  );
  if (refused !== undefined) return refused;
  countFiles(stores, grant.key, prepared.length);
  let counted = grant.bucket;
  return prepared.map((file, index) => {
    const stored = storeFile(stores, counted, { ...file, nowNs: call.nowNs });
    counted = stored.bucket;
    const leaves = leavesOfRenewal(counted, stored.file.path);
    chargeWork(stores, call, { key: grant.key, leaves });
    const shown = shownToWriter(grant, stored, uploadedFields);
    return { path: files[index]?.path ?? '', stored: shown };
  });
}

function withDigest(prepared: PreparedFile): Prepared {
  const digest = sha256(prepared.sent.bytes);
  requireDigest(digest, prepared.sent.digests ?? []);
  return { ...prepared, digest };
}

function openBatch(
  stores: Stores,
  call: Call,
  { bucket, apiKey, readFiles }: Batch,
): { readonly grant: Grant; readonly files: readonly BatchFile[] } {
  const claim = { bucket, permission: 'upload', apiKey, place: 'later' } as const;
  const grant = authorize(stores, call, claim);
  const files = readFiles();
  if (files.length === 0 || files.length > batchFileCountMax) {
    throw new Refusal(
      'InvalidArgument',
      `One call stores 1 to ${batchFileCountMax} files; got ${files.length}.`,
    );
  }
  checkFileCount(grant.key, files.length);
  return { grant, files };
}

/** Returns every file, or the reasons why none is stored; refuses a batch that exceeds a limit. */
function prepareAll<T extends PreparedFile>(
  files: readonly BatchFile[],
  prepare: (file: BatchFile) => T,
  { stores, bucket }: { readonly stores: Stores; readonly bucket: Bucket },
): { readonly prepared: readonly T[]; readonly refused?: readonly Refused[] } {
  const requireRoom = replacementLimit(stores, bucket);
  const results = files.map((file) =>
    valueOrRefusal(() => {
      const one = prepare(file);
      requireRoom(one);
      return one;
    }),
  );
  const prepared = results.filter((result) => !(result instanceof Refusal)) as T[];
  requireTogether(prepared, bucket);
  if (prepared.length === files.length) return { prepared };
  const notStored = new Refusal(
    'NotStored',
    'This file is valid, but another file of its batch was refused, so none was stored: ' +
      'send the batch without that file.',
  );
  const refused = files.map(({ path }, index) => {
    const result = results[index];
    return { path, refusal: result instanceof Refusal ? result : notStored };
  });
  return { prepared: [], refused };
}

/**
 * Returns a check that refuses a file with SlowDown if the files which it and the ones before it
 * replace have more chunks and links than one message can remove. The first one always passes.
 */
function replacementLimit(stores: Stores, bucket: Bucket): (prepared: PreparedFile) => void {
  const limit = createWorkLimit();
  return ({ sent, old }) => {
    if (old === undefined) return;
    const leaves = leavesOfReplacement(stores, bucket, old);
    if (!limit.fits(leaves)) {
      throw new Refusal(
        'SlowDown',
        `The files before ${quote(sent.path)} already replace as many chunks and links as one call can: ` +
          'store this file in a further call.',
      );
    }
    limit.spend(leaves);
  };
}

function requireTogether(prepared: readonly PreparedFile[], bucket: Bucket): void {
  const paths = new Set<string>();
  const addition = { files: 0, bytes: 0 };
  let size = 0;
  for (const { sent, addition: one } of prepared) {
    if (paths.has(sent.path)) {
      throw new Refusal(
        'InvalidArgument',
        `The path ${quote(sent.path)} occurs twice in the batch: send it once.`,
      );
    }
    paths.add(sent.path);
    addition.files += one.files;
    addition.bytes += one.bytes;
    size += sent.bytes.length;
  }
  if (size > singleUploadBytesMax) {
    throw new Refusal(
      'EntityTooLarge',
      `The files of one call have at most ${singleUploadBytesMax} bytes in total; these have ${size}: ` +
        'send fewer of them.',
      { limit: singleUploadBytesMax, size },
    );
  }
  checkQuota(bucket, addition);
}
