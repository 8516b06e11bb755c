// GET and HEAD of a file by a link: `/s/{id}/{name}?k={secret}`. Answered as a public file is,
// certified, of a private bucket too. A browser that goes to a link whose file only a client can
// open, or that is good for nothing, gets the console's page instead; not where the service
// has a front, since no script runs at the address of its volumes.

import { withLinkedFile } from '../domain/files/links.ts';
import { ageContentType } from '../domain/shared/age-format.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { isAlone } from '../domain/shared/role-record.ts';
import { secretOf } from './budgets.ts';
import { fileResponse, headResponse, type OpenedFile } from './cloud.ts';
import { consoleAtLink } from './console.ts';
import { linkHeaders } from './file-headers.ts';
import { type HttpRequest, type HttpResponse, header } from './message.ts';
import { type Answer, type Exchange, upgrade } from './router.ts';

export function getLinkedFile(exchange: Exchange): Answer {
  const { request, phase, stores } = exchange;
  const page = isNavigation(request) && isAlone(stores) ? consoleAtLink() : undefined;
  // The file is certified at this address: only an update can answer something else.
  const shown = page && (phase === 'query' ? upgrade : page);
  try {
    const shownAt = withLink<{ answer: Answer }>(exchange, (opened) => {
      const isForClients = opened.file.contentType === ageContentType;
      return { answer: isForClients && shown ? shown : fileResponse(exchange, opened) };
    });
    return shownAt.answer;
  } catch (error) {
    if (shown !== undefined && error instanceof Refusal && error.code === 'NoSuchFile')
      return shown;
    throw error;
  }
}

/**
 * A person goes there, and no script, player or download asks (W3C, "Fetch Metadata Request
 * Headers"). Browsers say so to origins at which they let a page decrypt, and to no others.
 */
function isNavigation(request: HttpRequest): boolean {
  return header(request, 'sec-fetch-dest') === 'document' && header(request, 'range') === undefined;
}

export function headLinkedFile(exchange: Exchange): HttpResponse {
  return withLink(exchange, (opened) => headResponse(exchange, opened));
}

function withLink<T extends object>(exchange: Exchange, use: (opened: OpenedFile) => T): T {
  const { stores, call, request, captures } = exchange;
  const [id = '', name = ''] = captures;
  const opened = { id, name, secret: secretOf(request) };
  return withLinkedFile(stores, call, opened, ({ file, key }, link) => {
    const address = `/s/${link.id}/${link.name}`;
    return use({ file, key, isPublic: true, served: linkHeaders(file, link), address, link });
  });
}
