// Lists of files, pages of a folder, and the number and bytes of files below a prefix.

import type { CallOptions } from './call-options.ts';
import type { FileRecord, ShownPath } from './files.ts';

export interface ListOptions extends CallOptions {
  readonly bucket: string;
  /** Taken literally. */
  readonly prefix?: string | undefined;
  /**
   * @example
   * ```ts
   * const newestFirst = { sort: 'date_desc', tag: 'greeting' } as const;
   * for await (const { path } of storage.list({ bucket: 'demo', ...newestFirst })) {
   *   console.log(path);
   * }
   * ```
   */
  readonly sort?: 'name_asc' | 'name_desc' | 'date_asc' | 'date_desc' | undefined;
  readonly tag?: string | undefined;
}

export interface FolderOptions extends CallOptions {
  readonly bucket: string;
  /** Taken literally. */
  readonly prefix?: string | undefined;
  /** Lists folders instead of the files in them. */
  readonly delimiter?: '/' | undefined;
  /**
   * The `nextCursor` of the previous page.
   *
   * @example
   * ```ts
   * const notes = { bucket: 'demo', prefix: 'notes/', limit: 100 };
   * let cursor: string | undefined;
   * do {
   *   const page = await storage.listFolder({ ...notes, cursor });
   *   for (const { path } of page.items) console.log(path);
   *   cursor = page.nextCursor;
   * } while (cursor !== undefined);
   * ```
   */
  readonly cursor?: string | undefined;
  /**
   * For a first page: lists only names after this one, and after the folder that contains it. Taken
   * literally; unsupported in buckets that seal names.
   *
   * @example
   * ```ts
   * const { items } = await storage.listFolder({ bucket: 'demo', startAfter: 'notes/h' });
   * console.log(items[0]?.path); // notes/hello.txt
   * ```
   */
  readonly startAfter?: string | undefined;
  /** Files and folders together, 1 to 1,000; 100 by default. */
  readonly limit?: number | undefined;
  /**
   * @example
   * ```ts
   * const last = await storage.listFolder({ bucket: 'demo', sort: 'name_desc', tag: 'greeting' });
   * console.log(last.items.map(({ path }) => path));
   * ```
   */
  readonly sort?: 'name_asc' | 'name_desc' | undefined;
  readonly tag?: string | undefined;
}

export interface FolderRecord extends ShownPath {
  /** The whole path, with its final slash. */
  readonly path: string;
}

export interface FolderPage {
  readonly items: readonly FileRecord[];
  readonly folders: readonly FolderRecord[];
  /** Absent on the last page. */
  readonly nextCursor?: string | undefined;
}

export interface FilePage {
  readonly items: readonly FileRecord[];
  readonly total: number;
  readonly nextPage?: number | undefined;
}

export interface UsageOptions extends CallOptions {
  readonly bucket: string;
  /** Taken literally. */
  readonly prefix?: string | undefined;
}

export interface Usage {
  readonly files: number;
  readonly bytes: number;
}
