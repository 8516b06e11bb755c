// GET and HEAD of a file by a link: `/s/{id}/{name}?k={secret}`. Answered as a public file is,
// certified, of a private bucket too.

import { withLinkedFile } from '../domain/files/link-access.ts';
import { fileResponse, headResponse, type OpenedFile } from './cloud.ts';
import { linkHeaders } from './file-headers.ts';
import type { HttpResponse } from './message.ts';
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
  const { k: secret = '' } = readQuery(request, ['k']);
  return withLinkedFile(stores, call, { id, name, secret }, ({ file, key }, link) => {
    const { served, shown } = linkHeaders(file, link);
    return use({ file: { ...file, ...shown }, key, isPublic: true, served, link });
  });
}
