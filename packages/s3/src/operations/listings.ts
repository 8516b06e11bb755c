// ListObjects in both versions.

import { xmlAnswer } from '../answer.ts';
import { type ListPage, type ListRequest, listPage } from '../listing.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import type { StoredObject } from '../stored-object.ts';
import { type Elements, writeXml } from '../xml/write.ts';
import { bucketOf, type Naming, namingOf, owner } from './common.ts';

const keysMax = 1_000;

export const listingRoutes: Readonly<Record<string, Route>> = {
  'GET bucket': {
    run: listVersion1,
    parameters: ['prefix', 'delimiter', 'marker', 'max-keys', 'encoding-type'],
  },
  'GET bucket?list-type': {
    run: listVersion2,
    parameters: [
      ...['prefix', 'delimiter', 'start-after', 'continuation-token', 'max-keys'],
      ...['encoding-type', 'fetch-owner'],
    ],
  },
};

async function listVersion1(operation: Operation) {
  const asked = askedOf(operation);
  const marker = operation.request.query.get('marker') ?? '';
  const page = await pageOf(operation, asked, marker);
  const { text } = asked.naming;
  return xmlAnswer(
    writeXml('ListBucketResult', {
      ...commonOf(asked, page),
      Marker: text(marker),
      NextMarker: page.next && text(page.next),
      ...namesOf(asked, page, true),
    }),
  );
}

async function listVersion2(operation: Operation) {
  const { query } = operation.request;
  if (query.get('list-type') !== '2') {
    throw new S3Error('InvalidArgument', 'list-type must be 2 or absent.');
  }
  const asked = askedOf(operation);
  const startAfter = query.get('start-after');
  const token = query.get('continuation-token');
  const after = token ? nameOfToken(token) : (startAfter ?? '');
  const page = await pageOf(operation, asked, after);
  return xmlAnswer(
    writeXml('ListBucketResult', {
      ...commonOf(asked, page),
      KeyCount: page.names.length,
      StartAfter: startAfter && asked.naming.text(startAfter),
      ContinuationToken: token,
      NextContinuationToken: page.next && tokenOf(page.next),
      ...namesOf(asked, page, query.get('fetch-owner') === 'true'),
    }),
  );
}

export interface Asked extends Pick<ListRequest, 'bucket' | 'prefix' | 'delimiter' | 'limit'> {
  readonly naming: Naming;
}

export function askedOf({ request }: Operation): Asked {
  const { query } = request;
  const asked = query.get('max-keys') ?? String(keysMax);
  if (!/^\d{1,10}$/.test(asked)) {
    throw new S3Error('InvalidArgument', 'max-keys must be a whole number from 0 on.');
  }
  return {
    bucket: bucketOf(request),
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    limit: Math.min(Number(asked), keysMax),
    naming: namingOf(request),
  };
}

async function pageOf(operation: Operation, asked: Asked, after: string): Promise<ListPage> {
  const { account, signal } = operation;
  const page = await listPage(account, {
    ...asked,
    after,
    limit: Math.max(1, asked.limit),
    signal,
  });
  return asked.limit === 0 ? { names: [] } : page;
}

function commonOf(asked: Asked, page: ListPage): Elements {
  const { bucket, prefix, delimiter, limit } = asked;
  const { encoding, text } = asked.naming;
  return {
    Name: bucket,
    Prefix: text(prefix),
    Delimiter: delimiter === '' ? undefined : text(delimiter),
    MaxKeys: limit,
    EncodingType: encoding,
    IsTruncated: page.next !== undefined,
  };
}

function namesOf({ naming }: Asked, { names }: ListPage, hasOwner: boolean): Elements {
  const { text } = naming;
  return {
    Contents: names.flatMap(({ name, object }) =>
      object === undefined ? [] : [contentOf(text(name), object, hasOwner)],
    ),
    CommonPrefixes: names.flatMap(({ name, object }) =>
      object === undefined ? [{ Prefix: text(name) }] : [],
    ),
  };
}

function contentOf(name: string, object: StoredObject, hasOwner: boolean): Elements {
  return {
    Key: name,
    LastModified: object.modified.toISOString(),
    ETag: `"${object.etag}"`,
    Size: object.size,
    StorageClass: 'STANDARD',
    Owner: hasOwner ? owner : undefined,
  };
}

/** Version 1 and the name, in base64url. */
function tokenOf(name: string): string {
  return Buffer.from(`1${name}`).toString('base64url');
}

function nameOfToken(token: string): string {
  const text = Buffer.from(token, 'base64url').toString();
  if (text.length > 1 && tokenOf(text.slice(1)) === token) return text.slice(1);
  throw new S3Error(
    'InvalidArgument',
    'The continuation token is invalid: use one that this server returned.',
  );
}
