// ListParts and ListMultipartUploads.

import { type Answer, xmlAnswer } from '../answer.ts';
import { groupOf } from '../listing.ts';
import type { StoredPart, UploadStart } from '../multipart/upload-log.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { type Elements, writeXml } from '../xml/write.ts';
import { bucketOf, namingOf, numberOf, owner, requireBucket } from './common.ts';

const itemsMax = 1_000;

export const multipartListRoutes: Readonly<Record<string, Route>> = {
  'GET object?uploadId': { run: listParts, parameters: ['max-parts', 'part-number-marker'] },
  'GET bucket?uploads': {
    run: listUploads,
    parameters: [
      ...['prefix', 'delimiter', 'encoding-type'],
      ...['key-marker', 'upload-id-marker', 'max-uploads'],
    ],
  },
};

async function listParts({ request, accessKeyId, multipart }: Operation): Promise<Answer> {
  const owned = { holder: accessKeyId, bucket: bucketOf(request), key: request.key ?? '' };
  const { state } = await multipart.find(request.query.get('uploadId') ?? '', owned);
  const { uploadId, checksum } = state.start;
  if (state.completed !== undefined) {
    throw new S3Error('NoSuchUpload', 'The upload has been completed.');
  }
  const marker = numberOf(request.query, 'part-number-marker') ?? 0;
  const max = Math.min(itemsMax, numberOf(request.query, 'max-parts') ?? itemsMax);
  const behind = [...state.parts.values()]
    .filter(({ number }) => number > marker)
    .sort((one, other) => one.number - other.number);
  const shown = behind.slice(0, max);
  return xmlAnswer(
    writeXml('ListPartsResult', {
      Bucket: owned.bucket,
      Key: owned.key,
      UploadId: uploadId,
      Initiator: owner,
      Owner: owner,
      StorageClass: 'STANDARD',
      PartNumberMarker: marker,
      NextPartNumberMarker: shown.at(-1)?.number ?? marker,
      MaxParts: max,
      IsTruncated: behind.length > shown.length,
      ...checksumKind(checksum),
      Part: shown.map(partElements),
    }),
  );
}

function partElements({ number, storedAt, md5, size, checksum }: StoredPart): Elements {
  return {
    PartNumber: number,
    LastModified: storedAt,
    ETag: `"${md5}"`,
    Size: size,
    ...(checksum && { [`Checksum${checksum.algorithm}`]: checksum.value }),
  };
}

function checksumKind(checksum: UploadStart['checksum']): Elements {
  if (checksum === undefined) return {};
  const { algorithm, isOfWhole } = checksum;
  return {
    ChecksumAlgorithm: algorithm,
    ChecksumType: isOfWhole ? 'FULL_OBJECT' : 'COMPOSITE',
  };
}

/** Lists only the uploads of the caller's access key. */
async function listUploads(operation: Operation): Promise<Answer> {
  const { request, accessKeyId, isSigned, multipart } = operation;
  const { query } = request;
  if (!isSigned) throw new S3Error('AccessDenied', 'Only signed requests can list uploads.');
  await requireBucket(operation);
  const bucket = bucketOf(request);
  const delimiter = query.get('delimiter') ?? '';
  const { encoding, text } = namingOf(request);
  const [prefix, keyMarker] = [query.get('prefix') ?? '', query.get('key-marker') ?? ''];
  const idMarker = query.get('upload-id-marker') ?? '';
  const max = Math.min(itemsMax, numberOf(query, 'max-uploads') ?? itemsMax);
  const all = await multipart.list({ holder: accessKeyId, bucket });
  const own = all.filter(({ key }) => key.startsWith(prefix));
  const behind = own.slice(placeBehind(own, keyMarker, idMarker));
  const groups = groupsOf(behind, { prefix, delimiter, keyMarker });
  const shown = groups.slice(0, max);
  const last = groups.length > shown.length ? shown.at(-1) : undefined;
  return xmlAnswer(
    writeXml('ListMultipartUploadsResult', {
      Bucket: bucket,
      KeyMarker: text(keyMarker),
      UploadIdMarker: idMarker,
      NextKeyMarker: last && text(last.name),
      NextUploadIdMarker: last?.upload?.uploadId,
      EncodingType: encoding,
      Prefix: text(prefix),
      Delimiter: delimiter === '' ? undefined : text(delimiter),
      MaxUploads: max,
      IsTruncated: last !== undefined,
      Upload: shown.flatMap(({ upload }) =>
        upload === undefined ? [] : [{ ...uploadElements(upload), Key: text(upload.key) }],
      ),
      CommonPrefixes: shown.flatMap(({ name, upload }) =>
        upload === undefined ? [{ Prefix: text(name) }] : [],
      ),
    }),
  );
}

function uploadElements({ key, uploadId, begunAt, checksum }: UploadStart): Elements {
  return {
    Key: key,
    UploadId: uploadId,
    Initiator: owner,
    Owner: owner,
    StorageClass: 'STANDARD',
    Initiated: begunAt,
    ...checksumKind(checksum),
  };
}

/** An upload, or a common prefix of several. */
interface UploadGroup {
  readonly name: string;
  readonly upload?: UploadStart;
}

/** A prefix that an earlier page has shown is the marker, and is not shown again. */
function groupsOf(
  uploads: readonly UploadStart[],
  by: { readonly prefix: string; readonly delimiter: string; readonly keyMarker: string },
): UploadGroup[] {
  const { prefix, delimiter, keyMarker } = by;
  const groups: UploadGroup[] = [];
  for (const upload of uploads) {
    const { name } = groupOf({ name: upload.key }, prefix, delimiter);
    if (name === upload.key) groups.push({ name, upload });
    else if (name !== keyMarker && name !== groups.at(-1)?.name) groups.push({ name });
  }
  return groups;
}

/** Returns the position after the upload with that id, or after all uploads of that key. */
function placeBehind(list: readonly UploadStart[], keyMarker: string, idMarker: string): number {
  const at = list.findIndex(({ key, uploadId }) => key === keyMarker && uploadId === idMarker);
  if (at !== -1) return at + 1;
  const next = list.findIndex(({ key }) => key > keyMarker);
  return keyMarker === '' ? 0 : next === -1 ? list.length : next;
}
