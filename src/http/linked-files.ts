// GET and HEAD of a file by a link: `/s/{id}/{name}?k={secret}`. Answered as a public file is,
// certified, of a private bucket too.

import { withLinkedFile } from '../domain/files/link-access.ts';
import { fileResponse, headResponse, type OpenedFile } from './cloud.ts';
import { linkHeaders } from './file-headers.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import { readQuery } from './query.ts';
import type { Exchange } from './router.ts';

export function getLinkedFile(exchange: Exchange): HttpResponse {
  return withLink(exchange, (opened) => fileResponse(exchange, opened));
}

export function headLinkedFile(exchange: Exchange): HttpResponse {
  return withLink(exchange, (opened) => headResponse(exchange, opened));
}

function withLink(exchange: Exchange, use: (opened: OpenedFile) => HttpResponse): HttpResponse {
  const { stores, call, request, captures } = exchange;
  const [id = '', name = ''] = captures;
  const secret = secretOf(request);
  return withLinkedFile(stores, call, { id, name, secret }, ({ file, key }, link) => {
    const address = `/s/${link.id}/${link.name}`;
    return use({ file, key, isPublic: true, served: linkHeaders(file, link), address, link });
  });
}

const plainQuery = '?k=';

/** Most have nothing else in the query, and nothing that is encoded: that is read at a tenth. */
function secretOf(request: HttpRequest): string {
  const { url } = request;
  const start = url.indexOf(plainQuery);
  const plain = url.slice(start + plainQuery.length);
  const isPlain = start > 0 && !plain.includes('&') && !plain.includes('%') && !plain.includes('#');
  return isPlain ? plain : (readQuery(request, ['k']).k ?? '');
}
