// Operations that list files or count them.

import { folderPageDefault, pageSizeMax } from '../../../wire/src/limits.ts';
import { StorageError } from '../storage-error.ts';
import type { FileRecord } from '../types/files.ts';
import type {
  FilePage,
  FolderOptions,
  FolderPage,
  FolderRecord,
  ListOptions,
  Usage,
  UsageOptions,
} from '../types/listings.ts';
import type { PathRows, Rows } from './operation.ts';
import { getting } from './operation-request.ts';
import { bucketPath } from './url-paths.ts';

export interface PageRequest extends Omit<ListOptions, 'signal'> {
  readonly page: number;
}

export type FolderRequest = Omit<FolderOptions, 'signal'>;

export interface ListingOperations {
  listFiles(request: PageRequest): FilePage;
  listFolder(request: FolderRequest): FolderPage;
  usage(request: Omit<UsageOptions, 'signal'>): Usage;
}

export interface ListedPage extends Omit<FilePage, 'nextPage'> {
  readonly nextPage: number | null;
}

export interface ListedFolder {
  readonly items: readonly FileRecord[];
  readonly folders: readonly FolderRecord[];
  /** Absent in the response of version 0.1.0, which ignores the request's parameters. */
  readonly nextCursor?: string | null;
}

export const listingRows = {
  listFiles: {
    retry: 'repeat',
    request: ({ bucket, prefix, sort, tag, page }) =>
      getting(filesPath(bucket), { page, pageSize: pageSizeMax, prefix, sort, tag }),
    read: ({ items, total, nextPage }: ListedPage) => {
      return { items, total, nextPage: nextPage ?? undefined };
    },
  },
  listFolder: {
    retry: 'repeat',
    request: ({ bucket, limit = folderPageDefault, ...request }) => {
      const { prefix, delimiter, cursor, startAfter, sort, tag } = request;
      const query = { limit, prefix, delimiter, cursor, startAfter, sort, tag };
      return getting(filesPath(bucket), query);
    },
    read: ({ items, folders, nextCursor }: ListedFolder) => {
      if (nextCursor !== undefined) return { items, folders, nextCursor: nextCursor ?? undefined };
      throw new StorageError('Unsupported', "The service's version cannot list folders.");
    },
  },
  usage: {
    retry: 'repeat',
    request: ({ bucket, prefix }) => getting(`${bucketPath(bucket)}/usage`, { prefix }),
    read: ({ files, bytes }: Usage) => ({ files, bytes }),
  },
} satisfies Rows<ListingOperations>;

export const listingPaths = {
  listFiles: { seals: { prefix: 'search' }, opens: { items: 'entries' } },
  listFolder: {
    seals: { prefix: 'search', startAfter: 'unsupported' },
    opens: { items: 'sorted', folders: 'sorted' },
  },
  usage: { seals: { prefix: 'folder' } },
} satisfies PathRows<ListingOperations>;

function filesPath(bucket: string): string {
  return `${bucketPath(bucket)}/files`;
}
