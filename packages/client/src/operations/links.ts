// Operations on share links.

import { encodeHex } from '../bytes/bytes.ts';
import { StorageError } from '../storage-error.ts';
import type { LinkListOptions, LinkRecord, LinkRequest, NewLink } from '../types/links.ts';
import { checkedLink } from './link-path.ts';
import type { PathRows, Rows } from './operation.ts';
import { getting, pageOf, posting, removing } from './operation-request.ts';
import { bucketPath } from './url-paths.ts';

export interface NewLinkRequest extends Omit<LinkRequest, 'signal' | 'password'> {
  /** 32 bytes, see links/link-password.ts. */
  readonly passwordProof?: Uint8Array | undefined;
  /** The link only serves a download of its maker. */
  readonly isTemporary?: boolean;
}

export interface LinkPage {
  readonly items: readonly LinkRecord[];
  /** Absent on the last page. */
  readonly nextCursor: string | undefined;
}

export interface LinkOperations {
  /** Returns a link whose `url` is the path below the transport's `linkBase`. */
  createLink(request: NewLinkRequest): NewLink;
  listLinks(request: Omit<LinkListOptions, 'signal'> & { cursor: string | undefined }): LinkPage;
  removeLink(link: { readonly bucket: string; readonly id: string }): undefined;
}

export const linkRows = {
  createLink: {
    // A second link could remain whose address nobody has.
    retry: 'never',
    request: ({ bucket, path, expiresAt, downloadName, passwordProof, maxDownloads, title }) =>
      posting(linksPath(bucket), {
        ...{ path, expiresAt, downloadName, maxDownloads, title },
        passwordProof: passwordProof && encodeHex(passwordProof),
      }),
    read: (made: NewLink, request) => checkedLink(request, made),
  },
  listLinks: {
    retry: 'repeat',
    request: ({ bucket, path, cursor }) => getting(linksPath(bucket), { path, cursor }),
    read: pageOf<LinkRecord>,
  },
  removeLink: {
    retry: { doneIf: 'NoSuchFile' },
    request({ bucket, id }) {
      // `fetch` would resolve dot segments to another path.
      if (/^[\w-]+$/.test(id)) return removing(`${linksPath(bucket)}/${id}`);
      throw new StorageError('InvalidArgument', `The link id ${JSON.stringify(id)} is not valid.`);
    },
  },
} satisfies Rows<LinkOperations>;

export const linkPaths = {
  createLink: { seals: { path: 'path', downloadName: 'unsupported', title: 'unsupported' } },
  listLinks: { seals: { path: 'path' }, opens: { items: 'sorted' } },
  removeLink: {},
} satisfies PathRows<LinkOperations>;

function linksPath(bucket: string): string {
  return `${bucketPath(bucket)}/links`;
}
