// Operations on former versions of files.

import type { FileRecord } from '../types/files.ts';
import type {
  EraseOptions,
  FileVersion,
  RestoreOptions,
  VersionListOptions,
  VersionPage,
} from '../types/versions.ts';
import type { PathRows, Rows } from './operation.ts';
import { getting, pageOf, posting, removing, withQuery } from './operation-request.ts';
import { bucketPath, versionPath } from './url-paths.ts';

export interface VersionsRequest extends Omit<VersionListOptions, 'signal'> {
  readonly cursor: string | undefined;
  /** 1 to 1,000. */
  readonly limit: number;
}

/** The result of one call; an earlier service reports no held versions and gives no cursor. */
export interface ErasureAnswer {
  readonly erased: number;
  readonly held?: number | undefined;
  readonly isDone: boolean;
  readonly nextCursor?: string | undefined;
}

export interface ErasureRequest extends Omit<EraseOptions, 'signal'> {
  readonly cursor?: string | undefined;
}

export interface VersionOperations {
  listVersions(request: VersionsRequest): VersionPage;
  restoreVersion(restoration: Omit<RestoreOptions, 'signal'>): FileRecord;
  eraseVersions(erasure: ErasureRequest): ErasureAnswer;
}

export const versionRows = {
  listVersions: {
    retry: 'repeat',
    request: ({ bucket, path, prefix, cursor, limit }) =>
      getting(`${bucketPath(bucket)}/versions`, { path, prefix, cursor, limit }),
    read: pageOf<FileVersion>,
  },
  restoreVersion: {
    retry: 'compare',
    request: ({ bucket, ...restoration }) => posting(`${bucketPath(bucket)}/restore`, restoration),
  },
  eraseVersions: {
    retry: 'compare',
    request({ bucket, path, version, prefix, cursor, bypassGovernance }) {
      const place =
        path === undefined ? `${bucketPath(bucket)}/versions` : versionPath({ bucket, path });
      const request = removing(withQuery(place, { version, prefix, cursor, bypassGovernance }));
      return { ...request, isBare: version !== undefined };
    },
    read: (json: ErasureAnswer, { version }) =>
      version === undefined ? json : { erased: 1, isDone: true },
  },
} satisfies Rows<VersionOperations>;

export const versionPaths = {
  listVersions: { seals: { path: 'path', prefix: 'search' }, opens: { items: 'sorted' } },
  restoreVersion: { seals: { path: 'path' }, opens: 'record' },
  eraseVersions: { seals: { path: 'path', prefix: 'folder' } },
} satisfies PathRows<VersionOperations>;
