// The path of a link: `/s/{id}/{name}?k={secret}`. People pass it on, and a single node could have
// forged the response, so the path is rebuilt here from strictly checked parts.

import { StorageError } from '../storage-error.ts';
import type { LinkRequest, NewLink } from '../types/links.ts';

const pathPattern = /^\/s\/([\w-]{16})\/[^/?#]+\?k=([\w-]{22})$/;

type LinkedFile = Omit<LinkRequest, 'password' | 'signal'>;

/** Throws HttpError unless the service returned the path of a link to this file. */
export function checkedLink({ path, downloadName }: LinkedFile, made: NewLink): NewLink {
  const [, id, secret] = pathPattern.exec(made.url) ?? [];
  const name = encodeURIComponent(downloadName || path.slice(path.lastIndexOf('/') + 1));
  const url = `/s/${id}/${name}?k=${secret}`;
  if (id === made.id && url === made.url) return { ...made, url };
  throw new StorageError(
    'HttpError',
    `The service answered with an address that is not a link: ${JSON.stringify(made.url)}. ` +
      'Do not use it; remove the link (links.list() shows it) and make another.',
  );
}
