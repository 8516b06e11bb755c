// Operations on upload links.

import { StorageError } from '../storage-error.ts';
import type {
  NewUploadLink,
  UploadLinkListOptions,
  UploadLinkRecord,
  UploadLinkRequest,
} from '../types/upload-links.ts';
import type { PathRows, Rows } from './operation.ts';
import { getting, pageOf, posting, removing } from './operation-request.ts';
import { bucketPath } from './url-paths.ts';

export interface UploadLinkPage {
  readonly items: readonly UploadLinkRecord[];
  /** Absent on the last page. */
  readonly nextCursor: string | undefined;
}

export interface UploadLinkOperations {
  /** Returns a link whose addresses are paths below the transport's `linkBase`. */
  createUploadLink(request: Omit<UploadLinkRequest, 'signal'>): NewUploadLink;
  listUploadLinks(
    request: Omit<UploadLinkListOptions, 'signal'> & { cursor: string | undefined },
  ): UploadLinkPage;
  removeUploadLink(link: { readonly bucket: string; readonly id: string }): undefined;
}

export const uploadLinkRows = {
  createUploadLink: {
    // A second link could remain whose address nobody has.
    retry: 'never',
    request: ({ bucket, ...fields }) => posting(linksPath(bucket), fields),
    read: (made: NewUploadLink, request) => checkedUploadLink(request, made),
  },
  listUploadLinks: {
    retry: 'repeat',
    request: ({ bucket, cursor }) => getting(linksPath(bucket), { cursor }),
    read: pageOf<UploadLinkRecord>,
  },
  removeUploadLink: {
    retry: { doneIf: 'NoSuchFile' },
    request({ bucket, id }) {
      // `fetch` would resolve dot segments to another path.
      if (/^[0-9a-f]{16}$/.test(id)) return removing(`${linksPath(bucket)}/${id}`);
      throw new StorageError('InvalidArgument', `The link id ${JSON.stringify(id)} is not valid.`);
    },
  },
} satisfies Rows<UploadLinkOperations>;

export const uploadLinkPaths = {
  createUploadLink: { seals: { path: 'path', prefix: 'folder' } },
  listUploadLinks: {},
  removeUploadLink: {},
} satisfies PathRows<UploadLinkOperations>;

function linksPath(bucket: string): string {
  return `${bucketPath(bucket)}/upload-links`;
}

const formPattern = /^[^?]*\?upload=(efu_[\w-]{49})$/;

/**
 * Builds the addresses from the secret in the response, because people pass them on, and a single
 * node could have forged others. Throws HttpError for a response without a secret.
 */
export function checkedUploadLink(
  { bucket, path, prefix = '' }: Pick<UploadLinkRequest, 'bucket' | 'path' | 'prefix'>,
  { id, formUrl, expiresAt }: NewUploadLink,
): NewUploadLink {
  const [, secret] = formPattern.exec(formUrl) ?? [];
  if (secret === undefined) {
    throw new StorageError(
      'HttpError',
      `The service answered with an address that is not an upload link: ${JSON.stringify(formUrl)}. ` +
        'Do not use it; remove the link (uploadLinks.list() shows it) and make another.',
    );
  }
  const query = `?upload=${secret}`;
  const files = `${bucketPath(bucket)}/files`;
  const place = (path ?? prefix).replace(/^\//, '').split('/').map(encodeURIComponent).join('/');
  const putUrl = `${files}/${place}${path === undefined ? '{name}' : ''}${query}`;
  const tusUrl = `/api/v1/tus/${encodeURIComponent(bucket)}${query}`;
  return { id, putUrl, formUrl: `${files}${query}`, tusUrl, expiresAt };
}
