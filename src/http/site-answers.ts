// The answer of a site at an address that names no file.

import type { ServedBucket } from '../domain/buckets/buckets.ts';
import type { FileRecord, OpenFile } from '../domain/files/file-records.ts';
import { withOpenFile } from '../domain/files/file-records.ts';
import { computedTarget, mayHaveSite } from '../domain/files/sites.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { fileResponse, getCloudFile, headCloudFile, headResponse } from './cloud.ts';
import type { Exchange } from './exchange.ts';
import { servedHeaders } from './file-headers.ts';
import { type HttpResponse, readablePath } from './message.ts';
import { missingResponse } from './missing.ts';
import { foundAt, foundBeside, replyOf, type SiteFound, type SitePlace, siteAt } from './sites.ts';

type Asked = Omit<Exchange, 'captures'>;

export function getCloudPath(exchange: Exchange): HttpResponse {
  return getCloudFile(exchange, (bucket, path) => siteAnswer(exchange, bucket, path));
}

export function headCloudPath(exchange: Exchange): HttpResponse {
  return headCloudFile(exchange, (bucket, path) => siteAnswer(exchange, bucket, path));
}

/** Answers at a path without a file. Most requests for redirects come here: it saves look-ups. */
function siteAnswer(
  exchange: Exchange,
  bucket: ServedBucket,
  path: string,
): HttpResponse | undefined {
  if (!mayHaveSite(bucket)) return undefined;
  const place = { bucket, address: `/${path}` };
  const found = foundBeside(exchange.stores, place);
  return found && answerOf(exchange, place, found);
}

/** Returns the site's answer for a missing path, or `missing` if the URL is below no site. */
export function shownOfSite(exchange: Asked, missing: HttpResponse): HttpResponse {
  const { stores, request } = exchange;
  const place = siteAt(stores, readablePath(request));
  const found = place && foundAt(stores, place);
  if (place === undefined || found === undefined) return missing;
  const computed = answerOf(exchange, place, found);
  if (computed !== undefined) return computed;
  const body = request.method === 'HEAD' ? emptyBytes : missingResponse().body;
  return { ...missingResponse(), body };
}

/** Returns `undefined` if an update has computed that the path is missing. */
function answerOf(
  exchange: Asked,
  place: SitePlace,
  { target, isWildcard }: SiteFound,
): HttpResponse | undefined {
  const { stores, request } = exchange;
  if (target.kind === 'update') return computedAnswer(exchange, place);
  if (target.kind === 'file') return fileAnswer(exchange, place, { file: target.file, isWildcard });
  const answer = replyOf(stores, place, target);
  const body = request.method === 'HEAD' ? emptyBytes : answer.body;
  const proof = target.kind === 'redirect' ? target.proof : undefined;
  return { ...answer, body, siteReply: { answer, isWildcard, proof } };
}

/** Returns an answer that nothing can prove, so that gateways get it by an update. */
function computedAnswer(exchange: Asked, place: SitePlace): HttpResponse | undefined {
  const { stores, request } = exchange;
  const target = computedTarget(stores, place.bucket, place.address);
  if (target === undefined) return undefined;
  if (target.kind === 'file') return fileAnswer(exchange, place, { file: target.file });
  const answer = replyOf(stores, place, target);
  return request.method === 'HEAD' ? { ...answer, body: emptyBytes } : answer;
}

interface ServedFile {
  readonly file: FileRecord;
  /** Absent: no leaf proves the answer. */
  readonly isWildcard?: boolean;
}

/** Answers as at the file's own address. */
function fileAnswer(
  exchange: Asked,
  { bucket }: SitePlace,
  { file: { path }, isWildcard }: ServedFile,
): HttpResponse | undefined {
  const { stores, request } = exchange;
  const { method } = request;
  if (method !== 'GET' && method !== 'HEAD') {
    const allow = 'GET, HEAD, OPTIONS';
    const words = `The method is not allowed here: use ${allow}.`;
    throw new Refusal('MethodNotAllowed', words, { allow });
  }
  const address = readablePath(request);
  const respond = method === 'HEAD' ? headResponse : fileResponse;
  return withOpenFile(stores, { bucket, path }, ({ file, key }: OpenFile) => {
    const served = servedHeaders(file);
    const opened = { file, key, isPublic: true, served, address };
    const place = isWildcard === undefined ? { isComputed: true } : { isWildcard };
    return respond({ ...exchange, captures: [] }, { ...opened, ...place });
  });
}
