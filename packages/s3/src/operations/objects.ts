// GetObject and HeadObject.

import { type Pieces, piecesOf } from '../../../client/src/bytes/byte-stream.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import type { FileName } from '../../../client/src/types/files.ts';
import type { Download } from '../../../client/src/types/transfers.ts';
import { versionIdOf } from '../account.ts';
import type { Answer } from '../answer.ts';
import { received } from '../chunk-source.ts';
import { checkConditions, conditionsOf, namesEtag } from '../conditions.ts';
import { checksumHeadersOf, headersOf, partChecksumOf } from '../object-headers.ts';
import type { Operation, Route } from '../operation.ts';
import { type ByteRange, rangeOf } from '../range.ts';
import type { S3Request } from '../request.ts';
import { S3Error } from '../s3-error.ts';
import type { StoredObject } from '../stored-object.ts';
import { findObject, placeOf } from './common.ts';

const overrides = [
  'Content-Type',
  'Content-Language',
  'Expires',
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
] as const;

const partNumberMax = 10_000;

const parameters = [
  'versionId',
  'partNumber',
  ...overrides.map((name) => `response-${name.toLowerCase()}`),
];

export const objectRoutes: Readonly<Record<string, Route>> = {
  'GET object': { run: getObject, parameters, movesBytes: 'if long' },
  'HEAD object': { run: headObject, parameters },
};

async function headObject(operation: Operation): Promise<Answer> {
  const { request } = operation;
  const object = await findObject(operation, placeOf(request), request.query.get('versionId'));
  const { answer } = await headOf(operation, object);
  return answer;
}

/** Number of attempts for a file that is replaced between two reads of its record. */
const attemptsMax = 3;

async function getObject(operation: Operation): Promise<Answer> {
  const { accessKeyId, ranges, request } = operation;
  const name = placeOf(request);
  const versionId = request.query.get('versionId');
  const recentName = JSON.stringify([accessKeyId, name.bucket, name.path]);
  const isRange = request.header('range') !== undefined && versionId === undefined;
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const load = () => findObject(operation, name, versionId);
    const object = await (isRange ? ranges.find(recentName, load) : load());
    const { answer, range } = await headOf(operation, object);
    if (answer.status === 304 || object.size === 0) return answer;
    const opening = { name, object, range };
    const body = await (isSmall(operation, opening)
      ? readSmall(operation, object)
      : openLong(operation, isRange ? recentName : undefined, opening));
    if (body !== undefined) return { ...answer, body };
    ranges.forget(recentName);
  }
  throw new S3Error(
    'SlowDown',
    'The object was replaced several times during the request: try again.',
  );
}

/** Whether the request is for all bytes of a small object in its present version. */
function isSmall({ account, smallGets }: Operation, { object, range }: Opening): boolean {
  const { record, size, version } = object;
  const isWhole = range === undefined || range.end - range.start === size;
  return isWhole && version === undefined && smallGets.isGathered(account, record);
}

/** Returns undefined if the object was replaced since its record was read. */
async function readSmall(
  { account, smallGets }: Operation,
  { record }: StoredObject,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const bytes = await smallGets.get(account, record);
  return bytes && onePiece(bytes);
}

/** Returns undefined if the object was replaced; `recentName` is set for a request with Range. */
async function openLong(
  admitted: Operation,
  recentName: string | undefined,
  opening: Opening,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const operation = { ...admitted, concurrency: await admitted.enterTransfers() };
  const { range } = opening;
  return recentName !== undefined && range !== undefined
    ? openRange(operation, recentName, { ...opening, range })
    : openBody(operation, opening);
}

/** Returns undefined if the object was replaced since its record was read. */
async function openBody(operation: Operation, opening: Opening): Promise<Pieces | undefined> {
  const { memory, signal } = operation;
  // The first chunk is read together with the record.
  const leave = await memory.receiving.enter(signal);
  const download = await open(operation, opening).finally(leave);
  if (download.etag === opening.object.record.etag) {
    return received(piecesOf(download.body), memory, signal);
  }
  await download.body.cancel();
  return undefined;
}

async function openRange(
  operation: Operation,
  recentName: string,
  opening: Opening & { readonly range: ByteRange },
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const { ranges, memory } = operation;
  // Not aborted with this client, because other requests may wait for the same bytes.
  const { signal } = new AbortController();
  const read = await ranges.read({
    ...{ name: recentName, object: opening.object, range: opening.range },
    fetch: async (range) => {
      const leave = await memory.receiving.enter(signal);
      try {
        const download = await open({ ...operation, signal }, { ...opening, range });
        if (download.etag === opening.object.record.etag) return await download.bytes();
        await download.body.cancel();
        return undefined;
      } catch (error) {
        if (!isStorageError(error, 'PreconditionFailed')) throw error;
        return undefined;
      } finally {
        leave();
      }
    },
  });
  if (read === undefined) return openBody(operation, opening);
  return read === 'replaced' ? undefined : onePiece(read);
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Maximum number of chunks that one download fetches ahead. */
const chunksAheadMax = 2;

interface Opening {
  readonly name: FileName;
  readonly object: StoredObject;
  readonly range: ByteRange | undefined;
}

function open(operation: Operation, { name, object, range }: Opening): Promise<Download> {
  const { account, signal } = operation;
  const concurrency = Math.min(operation.concurrency, chunksAheadMax);
  const { record, version } = object;
  const chunkBytes = record.chunkSize || undefined;
  return account.storage.download(name, { version, range, chunkBytes, concurrency, signal });
}

interface Head {
  readonly answer: Answer;
  readonly range: ByteRange | undefined;
}

async function headOf(
  { account, request, isSigned }: Operation,
  object: StoredObject,
): Promise<Head> {
  const fields: Record<string, string | undefined> = {
    ...headersOf(object),
    'x-amz-version-id': await versionIdOf(account, object.record),
    ...overridesOf(request, isSigned),
  };
  if (checkConditions(object, conditionsOf(request.header)) === 'not modified') {
    const { ETag, 'Last-Modified': modified } = fields;
    return {
      answer: { status: 304, headers: { ETag, 'Last-Modified': modified } },
      range: undefined,
    };
  }
  const wantsChecksum = request.header('x-amz-checksum-mode')?.toUpperCase() === 'ENABLED';
  const ifRange = request.header('if-range');
  const isCurrent = ifRange === undefined || namesEtag(ifRange, object.etag);
  const part = partOf(request, object);
  const asked = isCurrent ? rangeOf(request.header('range'), object.size) : undefined;
  const range = part?.range ?? asked;
  const { start, end } = range ?? { start: 0, end: object.size };
  const headers = {
    ...fields,
    ...(wantsChecksum && range === undefined && checksumHeadersOf(object.own.checksum)),
    ...(wantsChecksum && part && checksumHeadersOf(partChecksumOf(object.own, part.number))),
    'Content-Length': String(end - start),
    'x-amz-mp-parts-count': part && String(part.count),
    'Content-Range': range && `bytes ${start}-${end - 1}/${object.size}`,
  };
  return { answer: { status: range === undefined ? 200 : 206, headers }, range };
}

interface ObjectPart {
  readonly number: number;
  readonly range: ByteRange;
  readonly count: number;
}

/** Returns the part that the request numbers; `undefined` for the whole object. */
function partOf({ header, query }: S3Request, { own, size }: StoredObject): ObjectPart | undefined {
  const text = query.get('partNumber');
  if (text === undefined) return undefined;
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > partNumberMax) {
    throw new S3Error('InvalidArgument', `partNumber must be 1 to ${partNumberMax}.`);
  }
  if (header('range') !== undefined) {
    throw new S3Error('InvalidRequest', 'A request can have either partNumber or Range.');
  }
  const isInParts = own.partBytes !== undefined || (own.etag ?? '').includes('-');
  const partBytes = isInParts ? own.partBytes : Math.max(1, size);
  if (partBytes === undefined) {
    throw new S3Error(
      'NotImplemented',
      "The object's parts had several lengths, so their offsets are unknown: use Range.",
    );
  }
  const count = Math.max(1, Math.ceil(size / partBytes));
  if (number > count) {
    throw new S3Error(
      'InvalidPartNumber',
      `The object has ${count} parts, so part ${number} does not exist.`,
    );
  }
  if (!isInParts) return undefined;
  const start = (number - 1) * partBytes;
  return { number, range: { start, end: Math.min(size, start + partBytes) }, count };
}

/**
 * Returns the overrides; throws for an unsigned request, so that nobody can craft an address with
 * other headers.
 */
function overridesOf(request: S3Request, isSigned: boolean): Record<string, string> {
  const fields = overrides.flatMap((name) => {
    const value = request.query.get(`response-${name.toLowerCase()}`);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (fields.length > 0 && !isSigned) {
    throw new S3Error('InvalidRequest', 'Only signed requests can have response-… parameters.');
  }
  const wrong = fields.find(([, value]) => /[^\u0020-\u007e\u00a0-\u00ff]/.test(value));
  if (wrong !== undefined) {
    throw new S3Error(
      'InvalidArgument',
      `response-${wrong[0].toLowerCase()} has a character that header fields cannot have: send ` +
        "printable Latin-1, and other characters of a file name as filename*=UTF-8''….",
    );
  }
  return Object.fromEntries(fields);
}
