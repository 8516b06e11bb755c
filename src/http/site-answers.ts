// The answer of a site at an address that names no file.

import type { FileRecord, OpenFile } from '../domain/files/file-records.ts';
import { withOpenFile } from '../domain/files/file-records.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { fileResponse, headResponse } from './cloud.ts';
import type { Exchange } from './exchange.ts';
import { servedHeaders } from './file-headers.ts';
import { type HttpResponse, readablePath } from './message.ts';
import { foundAt, replyOf, type SitePlace, siteAt } from './sites.ts';

type Asked = Omit<Exchange, 'captures'>;

/** Returns the site's answer for a missing path, or `missing` if the URL is below no site. */
export function shownOfSite(exchange: Asked, missing: HttpResponse): HttpResponse {
  const place = siteAt(exchange.stores, readablePath(exchange.request));
  return (place && answerAt(exchange, place)) ?? missing;
}

function answerAt(exchange: Asked, place: SitePlace): HttpResponse | undefined {
  const { stores, request } = exchange;
  const found = foundAt(stores, place);
  if (found === undefined) return undefined;
  const { target, isWildcard } = found;
  if (target.kind === 'file') return fileAnswer(exchange, place, { file: target.file, isWildcard });
  const answer = replyOf(stores, place, target);
  const body = request.method === 'HEAD' ? emptyBytes : answer.body;
  return { ...answer, body, siteReply: { answer, isWildcard } };
}

/** Answers as at the file's own address. */
function fileAnswer(
  exchange: Asked,
  { bucket }: SitePlace,
  { file: { path }, isWildcard }: { readonly file: FileRecord; readonly isWildcard: boolean },
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
    const opened = { file, key, isPublic: true, served, address, isWildcard };
    return respond({ ...exchange, captures: [] }, opened);
  });
}
