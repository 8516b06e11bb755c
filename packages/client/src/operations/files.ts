// Operations that read records, copy, move, change and delete files.

import { type ErrorView, errorOfView, StorageError } from '../storage-error.ts';
import type {
  CopyFileOptions,
  FileChange,
  FileName,
  FileRecord,
  MoveAllOptions,
  MovedFiles,
  MoveOptions,
  RemovedFile,
  RemoveOptions,
  SwitchedFiles,
  SwitchOptions,
} from '../types/files.ts';
import type { PathRows, Rows } from './operation.ts';
import { getting, posting, removing, withQuery } from './operation-request.ts';
import { bucketPath, filePath } from './url-paths.ts';

/** The present version of a file, or the version with this number. */
export interface NumberedFile extends FileName {
  readonly version?: number | undefined;
}

/** A copy, or a move, which has no version. */
export interface CopyRequest extends Omit<CopyFileOptions & MoveOptions, 'signal'> {
  readonly from: FileName;
  readonly to: FileName;
}

export type ChangeRequest = FileName & Omit<FileChange, 'signal'>;

/** `cursor` continues the previous call. */
export interface PrefixMove extends Omit<MoveAllOptions, 'signal'> {
  readonly cursor?: string | undefined;
}

export interface PrefixMoveAnswer extends MovedFiles {
  /** Absent when the move is complete. */
  readonly nextCursor: string | undefined;
}

/** Pass paths or a prefix; with a prefix, `cursor` continues the previous call. */
export interface Deletion {
  readonly bucket: string;
  readonly paths?: readonly string[] | undefined;
  readonly prefix?: string | undefined;
  readonly cursor?: string | undefined;
  /** Requires exactly one path. */
  readonly ifMatch?: string | undefined;
  readonly bypassGovernance?: boolean | undefined;
}

export interface DeletionAnswer {
  readonly results: readonly RemovedFile[];
  /** Absent when the deletion is complete. */
  readonly nextCursor: string | undefined;
}

export type FileSwitch = Omit<SwitchOptions, 'signal'>;

export interface FileOperations {
  getFile(file: NumberedFile): FileRecord;
  copyFile(request: CopyRequest): FileRecord;
  moveFile(request: CopyRequest): FileRecord;
  moveFiles(move: PrefixMove): PrefixMoveAnswer;
  switchFiles(order: FileSwitch): SwitchedFiles;
  changeFile(change: ChangeRequest): FileRecord;
  deleteFiles(deletion: Deletion): DeletionAnswer;
  /** Deletes the file; with `ifMatch`, only if it has one of these entity tags. */
  deleteFile(file: FileName & Omit<RemoveOptions, 'signal'>): undefined;
}

export interface SentMove {
  readonly moved: number;
  readonly nextCursor: string | null;
  readonly failed: readonly { readonly path: string; readonly error: ErrorView }[];
}

export interface SentDeletion {
  readonly results: readonly { readonly path: string; readonly error?: ErrorView }[];
  readonly nextCursor: string | null;
}

export const fileRows = {
  getFile: {
    retry: 'repeat',
    request: (file) => getting(filePath(file), { version: file.version }),
    read(record: FileRecord, { version }) {
      if (version === undefined || record.version === version) return record;
      throw new StorageError('Unsupported', "The service's version cannot read former versions.");
    },
  },
  copyFile: {
    retry: 'compare',
    request: (request) => copying('copy', request),
  },
  moveFile: {
    retry: 'compare',
    request: (request) => copying('move', request),
  },
  moveFiles: {
    retry: 'compare',
    request: ({ bucket, ...move }) => posting(`${bucketPath(bucket)}/move`, move),
    read: ({ moved, nextCursor, failed }: SentMove) => {
      const shown = failed.map(({ path, error }) => ({ path, error: errorOfView(error) }));
      return { moved, nextCursor: nextCursor ?? undefined, failed: shown };
    },
  },
  switchFiles: {
    retry: 'repeat',
    request: ({ bucket, ...order }) => posting(`${bucketPath(bucket)}/switch`, order),
  },
  changeFile: {
    retry: 'repeat',
    request: ({ bucket, path, ifMatch, ...fields }) => ({
      ...posting(filePath({ bucket, path }), fields, { 'If-Match': ifMatch }),
      method: 'PATCH',
    }),
  },
  deleteFile: {
    retry: { doneIf: 'NoSuchFile' },
    request: ({ ifMatch, bypassGovernance, ...file }) =>
      removing(withQuery(filePath(file), { bypassGovernance }), { 'If-Match': ifMatch }),
  },
  deleteFiles: {
    retry: 'compare',
    request: ({ bucket, ...deletion }) => posting(`${bucketPath(bucket)}/delete`, deletion),
    read: ({ results, nextCursor }: SentDeletion) => ({
      results: results.map(({ path, error }) => ({ path, error: error && errorOfView(error) })),
      nextCursor: nextCursor ?? undefined,
    }),
  },
} satisfies Rows<FileOperations>;

export const filePaths = {
  getFile: { seals: { path: 'path' }, opens: 'record' },
  copyFile: { isNaming: true, seals: { from: 'source', to: 'target' }, opens: 'record' },
  moveFile: { isNaming: true, seals: { from: 'source', to: 'target' }, opens: 'record' },
  moveFiles: {
    isNaming: true,
    seals: { fromPrefix: 'folder', toPrefix: 'folder' },
    opens: { failed: 'outcomes' },
  },
  switchFiles: {
    isNaming: true,
    seals: { fromPrefix: 'folder', toPrefix: 'folder', deletes: 'batch' },
  },
  changeFile: { seals: { path: 'path' }, opens: 'record' },
  deleteFile: { seals: { path: 'path' } },
  deleteFiles: { seals: { paths: 'batch', prefix: 'folder' }, opens: { results: 'outcomes' } },
} satisfies PathRows<FileOperations>;

function copying(action: 'copy' | 'move', { from, ...rest }: CopyRequest) {
  return posting(`${bucketPath(from.bucket)}/${action}`, { from: from.path, ...rest });
}
