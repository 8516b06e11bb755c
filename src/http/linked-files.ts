// GET and HEAD of a file by a link: `/s/{id}/{name}?k={secret}`. The answer is certified like that
// of a public file, also for a private bucket. A browser that navigates to a link that is invalid,
// or whose file only a client can decrypt, gets the console's page instead. A service with a front
// does not do that, because no script runs at the addresses of its volumes.

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
  // The file is certified at this address, so only an update can answer with something else.
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
 * Whether a person navigates to the link, instead of a script, player or download (W3C, "Fetch
 * Metadata Request Headers"). Browsers send these fields only to origins where pages can decrypt.
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
