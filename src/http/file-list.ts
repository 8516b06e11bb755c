// GET of a bucket's files: `/api/v1/bucket/{bucket}/files?prefix=&page=&pageSize=&sort=&tag=`.

import { readFilesJson } from '../domain/files/files.ts';
import { type FileList, listFiles } from '../domain/listing/listing.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { concatBytes, emptyBytes } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';
import { requestKey } from './authorization.ts';
import type { Header, HttpResponse } from './message.ts';
import { readQuery } from './query.ts';
import type { Exchange } from './router.ts';

const parameters = ['prefix', 'page', 'pageSize', 'sort', 'tag'] as const;

export function getFileList(exchange: Exchange): HttpResponse {
  const { stores, call, request, captures } = exchange;
  const [bucket = ''] = captures;
  const apiKey = requestKey(exchange, bucket);
  const query = readQuery(request, parameters);
  const list = listFiles(stores, call, {
    bucket,
    apiKey,
    prefix: query.prefix,
    page: parseCount(query.page),
    pageSize: parseCount(query.pageSize),
    sort: query.sort,
    tag: query.tag,
  });
  const headers: Header[] = [
    ['Content-Type', 'application/json'],
    ['Cache-Control', 'private, no-store'],
  ];
  return { status: 200, headers, body: listJson(stores, list) };
}

const comma = 0x2c;

/** The JSON of the files, as it was stored with each, between that of the rest. */
function listJson(stores: Stores, list: FileList): Uint8Array {
  const { bucketId, paths, ...rest } = list;
  const items = joinByComma(readFilesJson(stores, bucketId, paths));
  const end = encodeUtf8(`],${JSON.stringify(rest).slice(1)}`);
  return concatBytes(encodeUtf8('{"items":['), items, end);
}

/** All commas first, then the parts, each one byte apart from the last. */
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

/** NaN, which the domain refuses, for what is no whole number in digits. */
function parseCount(text: string | undefined): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  return /^[0-9]{1,300}$/.test(text) ? Number(text) : Number.NaN;
}
