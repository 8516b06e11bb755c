// Completes a multipart upload: compares the client's list with the stored parts, uploads the parts
// in the spool, and makes the object visible at once.

import { createHash } from 'node:crypto';
import type { UploadOptions } from '../../../client/src/types/transfers.ts';
import type { WrittenPart } from '../../../client/src/uploads/uploads.ts';
import { versionIdOf } from '../account.ts';
import { type ChecksumAlgorithm, runChecksum } from '../body/checksum.ts';
import { combinedCrc } from '../body/combined-crc.ts';
import { chunkSource } from '../chunk-source.ts';
import { storeLock } from '../object-lock.ts';
import { S3Error } from '../s3-error.ts';
import { objectOf } from '../stored-object.ts';
import type { PartWork } from './part-work.ts';
import type { Spool } from './spool.ts';
import type { Completed, PartSession, StoredPart, UploadLog, UploadState } from './upload-log.ts';

export interface ListedPart {
  readonly number: number;
  /** Without quotes. */
  readonly etag: string;
  readonly checksums: readonly { readonly algorithm: ChecksumAlgorithm; readonly value: string }[];
}

/** Facts about the object's bytes that are known at completion. */
export interface WholeFacts {
  readonly etag?: string;
  readonly checksum?: string | undefined;
  readonly size?: number;
  readonly partBytes?: number | undefined;
  /** The checksum of each part in base64, separated by commas. */
  readonly partSums?: string | undefined;
}

type Conditions = Pick<UploadOptions, 'ifMatch' | 'ifNoneMatch'>;

export interface CompletionWish {
  readonly listed: readonly ListedPart[];
  /** Called only if nothing has been completed yet. */
  readonly conditions: () => Promise<Conditions>;
  readonly metadataOf: (facts: WholeFacts) => Record<string, string>;
  /** The whole object's bytes as the request declares them; the parts must have that many. */
  readonly size?: number | undefined;
  /** The checksum of the whole object that the client declares. */
  readonly checksum?: { readonly algorithm: ChecksumAlgorithm; readonly value: string } | undefined;
  /** Minimum bytes of every part except the last. */
  readonly partBytesMin: number;
}

interface Completing extends PartWork {
  readonly log: UploadLog;
  readonly spool: Spool;
}

/** Throws InvalidPart, InvalidPartOrder, EntityTooSmall, BadDigest, InvalidRequest. */
export async function completeUpload(
  completing: Completing,
  wish: CompletionWish,
): Promise<Completed> {
  const { state } = completing.log;
  const parts = listedParts(state, wish);
  const checksum = await checksumOf(state, parts);
  requireWished(parts, checksum, wish);
  const sums = parts.map((part) => part.checksum?.value);
  const partSums = checksum && sums.every(Boolean) ? sums.join() : undefined;
  const facts = { etag: etagOfParts(parts), checksum, partBytes: lengthOf(parts), partSums };
  const work = { ...completing, wish, parts, facts };
  const record = await (state.session === undefined
    ? completeFromSpool(work)
    : completeSession(work, state.session));
  const { bucket, path, lock } = state.start;
  // A repeated completion sets the lock again, because this one is not recorded yet.
  await storeLock(completing.account, { target: { bucket, path }, record, lock });
  const { etag, own } = objectOf(record);
  const versionId = await versionIdOf(completing.account, record);
  return { etag, ...(own.checksum && { checksum: own.checksum }), ...(versionId && { versionId }) };
}

function listedParts(state: UploadState, { listed, partBytesMin }: CompletionWish): StoredPart[] {
  if (listed.some(({ number }, index) => number <= (listed[index - 1]?.number ?? -1))) {
    throw new S3Error(
      'InvalidPartOrder',
      'The parts must be listed in ascending order of their numbers.',
    );
  }
  const parts = listed.map(({ number, etag, checksums }) => {
    const part = state.parts.get(number);
    const isSame =
      part?.md5 === etag &&
      checksums.every(
        ({ algorithm, value }) =>
          part.checksum?.algorithm === algorithm && part.checksum.value === value,
      );
    if (part !== undefined && isSame) return part;
    throw new S3Error(
      'InvalidPart',
      `Part ${number} does not exist, or its ETag or checksum does not match the list.`,
    );
  });
  if (parts.slice(0, -1).some(({ size }) => size < partBytesMin)) {
    throw new S3Error(
      'EntityTooSmall',
      `Every part except the last must have at least ${partBytesMin} bytes.`,
    );
  }
  return parts;
}

/** Returns the length of all parts except the last, if they are numbered from 1 without a gap. */
function lengthOf(parts: readonly StoredPart[]): number | undefined {
  const length = parts[0]?.size ?? 0;
  const isRegular = parts.every(
    ({ number, size }, index) =>
      number === index + 1 && (size === length || (index === parts.length - 1 && size < length)),
  );
  return isRegular && length > 0 ? length : undefined;
}

function etagOfParts(parts: readonly StoredPart[]): string {
  const md5 = createHash('md5');
  for (const part of parts) md5.update(Buffer.from(part.md5, 'hex'));
  return `${md5.digest('hex')}-${parts.length}`;
}

/** Returns the checksum as recorded; undefined if a part lacks one of the upload's kind. */
async function checksumOf(
  { start }: UploadState,
  parts: readonly StoredPart[],
): Promise<string | undefined> {
  const { algorithm, isOfWhole } = start.checksum ?? {};
  if (algorithm === undefined) return undefined;
  const sums = parts.flatMap(({ checksum, size }) =>
    checksum?.algorithm === algorithm ? [{ value: checksum.value, size }] : [],
  );
  if (sums.length < parts.length) return undefined;
  if (isOfWhole) {
    const whole = combinedCrc(algorithm, sums);
    return whole && `${algorithm} ${whole} FULL_OBJECT`;
  }
  const running = await runChecksum(algorithm);
  for (const { value } of sums) running.update(Buffer.from(value, 'base64'));
  const value = Buffer.from(running.digest()).toString('base64');
  return `${algorithm} ${value}-${parts.length} COMPOSITE`;
}

function requireWished(
  parts: readonly StoredPart[],
  found: string | undefined,
  { size, checksum }: CompletionWish,
): void {
  const total = sizeOf(parts);
  if (size !== undefined && size !== total) {
    throw new S3Error(
      'InvalidRequest',
      `x-amz-mp-object-size is ${size} bytes, but the parts have ${total}.`,
    );
  }
  if (checksum === undefined) return;
  const [algorithm, value] = found?.split(' ') ?? [];
  // S3 accepts a composite checksum with and without the number of its parts.
  const isSame =
    algorithm === checksum.algorithm && value?.split('-')[0] === checksum.value.split('-')[0];
  if (isSame) return;
  throw new S3Error(
    'BadDigest',
    `The ${checksum.algorithm} of the parts does not match the request, or a part has none.`,
  );
}

function sizeOf(parts: readonly StoredPart[]): number {
  return parts.reduce((total, { size }) => total + size, 0);
}

interface CompletingWork extends Completing {
  readonly wish: CompletionWish;
  readonly parts: readonly StoredPart[];
  readonly facts: WholeFacts;
}

/**
 * Completes the session. Parts up to the first gap, or up to the first of another length, have a
 * known place; those that are not in the session yet are written there from the spool. Later parts
 * are appended in order.
 */
async function completeSession(work: CompletingWork, session: PartSession) {
  const { account, log, parts, wish, facts } = work;
  const { bucket, path } = log.state.start;
  const name = { bucket, path, uploadId: session.sessionId };
  const firstOther = parts.findIndex(
    ({ number, size }, index) =>
      number !== index + 1 || (size !== session.partBytes && index < parts.length - 1),
  );
  const placed = firstOther === -1 ? parts : parts.slice(0, firstOther);
  const others = parts.slice(placed.length);
  const isMovable = others.every(({ file }) => file !== undefined);
  const { status, chunkCount } = await account.storage.uploads.status(name);
  const chunksInAll = Math.ceil(sizeOf(parts) / session.chunkBytes);
  if (!isMovable || chunkCount > chunksInAll) throw irregular(session);
  // A completion whose answer was lost is repeated unchanged.
  const isSent = status === 'completed';
  const written: WrittenPart[] = [];
  for (const [index, part] of placed.entries()) {
    written.push(await writtenParts(work, session, { index, parts: [part], isSent }));
  }
  if (others.length > 0) {
    const rest = { index: placed.length, parts: others, isSent };
    written.push(await writtenParts(work, session, rest));
  }
  return account.storage.uploads.complete({
    ...name,
    ...(!isSent && { ...(await wish.conditions()), parts: written }),
    metadata: wish.metadataOf(facts),
  });
}

interface ToBeWritten {
  /** Index of the first of `parts` in the list of all parts. */
  readonly index: number;
  readonly parts: readonly StoredPart[];
  /** Whether the session was completed before. */
  readonly isSent: boolean;
}

async function writtenParts(
  { account, concurrency, log, memory, signal, spool }: CompletingWork,
  { sessionId, partBytes, chunkBytes }: PartSession,
  { index, parts, isSent }: ToBeWritten,
): Promise<WrittenPart> {
  const offset = index * partBytes;
  const size = sizeOf(parts);
  const digests = parts.flatMap((part) => part.digests ?? []);
  if (isSent || digests.length > 0) return { offset, size, digests };
  const { bucket, path } = log.state.start;
  const source = chunkSource({ length: size, stream: spooled({ parts, spool }) }, memory, signal);
  const name = { bucket, path, uploadId: sessionId };
  const write = { ...name, offset, source, chunkBytes, concurrency };
  return account.storage.uploads.write(write).finally(() => source.close());
}

function irregular({ partBytes }: PartSession): S3Error {
  return new S3Error(
    'InvalidPart',
    `The list omits uploaded parts, or a part was first sent with a length other than ${partBytes} bytes` +
      ': list all parts, or start a new upload with parts of equal length.',
  );
}

async function completeFromSpool(work: CompletingWork) {
  const { account, concurrency, log, parts, wish, facts } = work;
  const { start, wholeSession } = log.state;
  const { bucket, path, description } = start;
  const size = sizeOf(parts);
  if (wholeSession !== undefined) {
    // An earlier attempt may have completed this session; otherwise it is cancelled.
    const name = { bucket, path, uploadId: wholeSession };
    const former = await account.storage.uploads.status(name).catch(() => undefined);
    if (former?.status === 'completed') return account.storage.stat({ bucket, path });
    await account.storage.uploads.cancel(name).catch(() => {});
  }
  const { contentType, headers, tags } = description;
  const source = chunkSource({ length: size, stream: spooled(work) }, work.memory, work.signal);
  const stored = account.storage.upload(source, {
    ...{ bucket, path, contentType, headers, tags, concurrency },
    ...(await wish.conditions()),
    metadata: wish.metadataOf(work.isSealed ? { size, partBytes: facts.partBytes } : facts),
    onSession: ({ uploadId }) => log.append({ kind: 'whole', sessionId: uploadId }),
  });
  return stored.finally(() => source.close());
}

async function* spooled({
  parts,
  spool,
}: Pick<CompletingWork, 'parts' | 'spool'>): AsyncGenerator<Uint8Array> {
  for (const { file } of parts) {
    if (file === undefined) throw new Error('A part without a session must be in the spool.');
    yield* spool.read(file);
  }
}
