// GET of a bucket's files by pages:
// `/api/v1/bucket/{bucket}/files?prefix=&page=&pageSize=&sort=&tag=`, and by folders and cursors if
// one of their parameters is present:
// `…/files?delimiter=&prefix=&cursor=&startAfter=&limit=&sort=&tag=`.

import { isListedBucket } from '../domain/buckets/buckets.ts';
import { readJsonPage } from '../domain/files/folder-page.ts';
import { listJson } from '../domain/files/json-list.ts';
import { type FolderList, listFolder } from '../domain/listing/folder-listing.ts';
import { type FileList, listFiles } from '../domain/listing/listing.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { present } from '../lib/assert.ts';
import { concatBytes, emptyBytes } from '../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../lib/text.ts';
import { type BucketRoute, bucketRoute } from './authorization.ts';
import { uploadSecret } from './bearer-key.ts';
import { type Header, type HttpResponse, header } from './message.ts';
import { parseCount, readQuery } from './query.ts';
import { uncached } from './respond.ts';
import type { Exchange } from './router.ts';

const pageParameters = ['page', 'pageSize'] as const;
const cursorParameters = ['delimiter', 'cursor', 'startAfter', 'limit'] as const;
const parameters = ['prefix', 'sort', 'tag', ...pageParameters, ...cursorParameters] as const;

const headers: readonly Header[] = [['Content-Type', 'application/json'], uncached];

/**
 * Returns the bucket, without a key if everybody may list it and the request sends none. Only a
 * query answers requests without a key: an update would cost the canister.
 */
function listRoute(exchange: Exchange): Partial<BucketRoute> & { readonly bucket: string } {
  const { stores, request, phase, captures } = exchange;
  const [bucket = ''] = captures;
  const isOpen =
    phase === 'query' &&
    header(request, 'authorization') === undefined &&
    isListedBucket(stores, bucket) &&
    uploadSecret(request) === '';
  return isOpen ? { bucket } : bucketRoute(exchange);
}

export function getFileList(exchange: Exchange): HttpResponse {
  const { stores, call, request, phase } = exchange;
  const { bucket, apiKey } = listRoute(exchange);
  const read = readQuery(request, parameters);
  const { prefix, sort, tag, page, pageSize, delimiter, cursor, startAfter, limit } = read;
  const common = { bucket, apiKey, isQuery: phase === 'query', prefix, sort, tag };
  if (cursorParameters.some((name) => read[name] !== undefined)) {
    if (page !== undefined || pageSize !== undefined) {
      throw new Refusal(
        'InvalidArgument',
        `A list uses either ${pageParameters.join(' and ')} or ${cursorParameters.join(', ')}: ` +
          'send only one group.',
      );
    }
    const position = { delimiter, cursor, startAfter, limit: parseCount(limit) };
    const list = listFolder(stores, call, { ...common, ...position });
    return { status: 200, headers, body: folderJson(stores, list) };
  }
  const numbers = { page: parseCount(page), pageSize: parseCount(pageSize) };
  const list = listFiles(stores, call, { ...common, ...numbers });
  return { status: 200, headers, body: pageJson(stores, list) };
}

const comma = 0x2c;

function pageJson(stores: Stores, list: FileList): Uint8Array {
  const { bucketId, paths, ...rest } = list;
  const { json } = listJson(stores, { bucketId, paths, limit: Number.MAX_SAFE_INTEGER });
  return itemsJson(json, rest);
}

function folderJson(stores: Stores, list: FolderList): Uint8Array {
  const { items, folders, nextCursor } = readJsonPage(stores, list);
  const { prefix, delimiter } = list;
  const named = folders.map((path) => ({ path: present(decodeUtf8(path), 'path of a folder') }));
  return itemsJson(items, { folders: named, nextCursor, prefix, delimiter });
}

/** Inserts the stored JSON of the files into the JSON of the other fields. */
function itemsJson(records: readonly Uint8Array[], rest: object): Uint8Array {
  const end = encodeUtf8(`],${JSON.stringify(rest).slice(1)}`);
  return concatBytes(encodeUtf8('{"items":['), joinByComma(records), end);
}

/** Writes all commas first, then the parts with one byte between them. */
function joinByComma(parts: readonly Uint8Array[]): Uint8Array {
  let length = Math.max(parts.length - 1, 0);
  for (let index = 0; index < parts.length; index++) length += parts[index]?.length ?? 0;
  const joined = new Uint8Array(length).fill(comma);
  let offset = 0;
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? emptyBytes;
    joined.set(part, offset);
    offset += part.length + 1;
  }
  return joined;
}
