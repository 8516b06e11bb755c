// GetObjectAttributes.

import { versionIdOf } from '../account.ts';
import { type Answer, xmlAnswer } from '../answer.ts';
import { partChecksumOf } from '../object-headers.ts';
import type { Operation, Route } from '../operation.ts';
import type { S3Request } from '../request.ts';
import { S3Error } from '../s3-error.ts';
import type { StoredObject } from '../stored-object.ts';
import { type Elements, writeXml } from '../xml/write.ts';
import { findObject, placeOf } from './common.ts';

const partsMax = 1_000;

export const attributeRoutes: Readonly<Record<string, Route>> = {
  'GET object?attributes': { run: getAttributes, parameters: ['versionId'] },
};

async function getAttributes(operation: Operation): Promise<Answer> {
  const { request } = operation;
  const wanted = (request.header('x-amz-object-attributes') ?? '')
    .split(',')
    .map((one) => one.trim());
  const object = await findObject(operation, placeOf(request), request.query.get('versionId'));
  const [algorithm = '', value, type = 'FULL_OBJECT'] = object.own.checksum?.split(' ') ?? [];
  const known: Elements = {
    ETag: object.etag,
    Checksum: value && { [`Checksum${algorithm}`]: value, ChecksumType: type },
    ObjectParts: partsOf(request, object),
    StorageClass: 'STANDARD',
    ObjectSize: object.size,
  };
  const shown = Object.entries(known).filter(([name]) => wanted.includes(name));
  return xmlAnswer(writeXml('GetObjectAttributesResponse', Object.fromEntries(shown)), {
    'Last-Modified': object.modified.toUTCString(),
    'x-amz-version-id': await versionIdOf(operation.account, object.record),
  });
}

/** Returns undefined for an object stored by one request, or in parts of unequal length. */
function partsOf(request: S3Request, { own, size }: StoredObject): Elements | undefined {
  const { partBytes } = own;
  if (partBytes === undefined) return undefined;
  const count = Math.max(1, Math.ceil(size / partBytes));
  const marker = numberIn(request, 'x-amz-part-number-marker') ?? 0;
  const max = Math.min(partsMax, numberIn(request, 'x-amz-max-parts') ?? partsMax);
  const last = Math.min(count, marker + max);
  const numbers = Array.from({ length: Math.max(0, last - marker) }, (_, at) => marker + at + 1);
  return {
    PartsCount: count,
    PartNumberMarker: marker,
    NextPartNumberMarker: last,
    MaxParts: max,
    IsTruncated: last < count,
    Part: numbers.map((number) => {
      const [algorithm = '', value] = partChecksumOf(own, number)?.split(' ') ?? [];
      return {
        PartNumber: number,
        Size: Math.min(partBytes, size - (number - 1) * partBytes),
        ...(value && { [`Checksum${algorithm}`]: value }),
      };
    }),
  };
}

function numberIn(request: S3Request, name: string): number | undefined {
  const text = request.header(name);
  if (text === undefined || /^\d{1,9}$/.test(text)) return text === undefined ? text : Number(text);
  throw new S3Error('InvalidArgument', `${name} must be a whole number; got ${text.slice(0, 80)}.`);
}
