// Many files or thumbnails in one response: POST to `/api/v1/bucket/{bucket}/read` or to
// `…/thumbnails`. The response is a form, which browsers and Node parse by themselves: the field
// `index`, and the files in its order.

import { deletionBytesMax, readFileCountMax } from '../../packages/wire/src/limits.ts';
import { sha256 } from '../crypto/hash.ts';
import { readFiles, type WholeFile } from '../domain/files/file-reads.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { concatBytes } from '../lib/bytes.ts';
import { encodeHex } from '../lib/hex.ts';
import { encodeUtf8 } from '../lib/text.ts';
import { bucketRoute } from './authorization.ts';
import { jsonBody, textListField } from './json-body.ts';
import type { HttpResponse } from './message.ts';
import { privateJson, uncached } from './respond.ts';
import type { Exchange } from './router.ts';

/** The body has a list of paths and a few fields. */
const bounds = { bytesMax: deletionBytesMax, itemsMax: readFileCountMax + 32 };

export function postRead(exchange: Exchange): HttpResponse {
  return readMany(exchange, false);
}

export function postThumbnails(exchange: Exchange): HttpResponse {
  return readMany(exchange, true);
}

function readMany(exchange: Exchange, asThumbnails: boolean): HttpResponse {
  const { stores, call, request } = exchange;
  const route = bucketRoute(exchange);
  // The inspection refuses what a query answers, whatever the answer.
  if (exchange.isInspected) return privateJson(200, {});
  const paths = textListField(jsonBody(request, bounds), 'paths', readFileCountMax);
  if (paths === undefined) {
    throw new Refusal('InvalidArgument', 'Send "paths", a list of the files to read.');
  }
  const { results, left } = readFiles(stores, call, { ...route, paths, asThumbnails });
  const shown = results.map((result, index) => resultView(result, paths[index] ?? ''));
  const files = results.flatMap((result) => (result instanceof Refusal ? [] : [result]));
  return formResponse(encodeUtf8(JSON.stringify({ results: shown, left })), files);
}

function resultView(result: WholeFile | Refusal, path: string): object {
  if (result instanceof Refusal) {
    const { code, message } = result;
    return { path, error: { code, message } };
  }
  const { etag, contentType, chunkBytes, bytes } = result;
  return { path, etag, contentType, chunkBytes, size: bytes.length };
}

/** RFC 7578. The index has the digests of all files, so none of them contains its digest. */
function formResponse(index: Uint8Array, files: readonly WholeFile[]): HttpResponse {
  const boundary = encodeHex(sha256(index));
  const head = (fields: string) => encodeUtf8(`\r\n--${boundary}\r\n${fields}\r\n\r\n`);
  const parts = [head('Content-Disposition: form-data; name="index"'), index];
  for (const { contentType, bytes } of files) {
    // Without a name it would be a text; the index has the paths.
    const disposition = 'Content-Disposition: form-data; name="file"; filename="file"';
    parts.push(head(`${disposition}\r\nContent-Type: ${contentType}`), bytes);
  }
  parts.push(encodeUtf8(`\r\n--${boundary}--\r\n`));
  const type = `multipart/form-data; boundary=${boundary}`;
  const body = concatBytes(...parts).subarray('\r\n'.length);
  return { status: 200, headers: [['Content-Type', type], uncached], body };
}
