// Links to folders.

import type { CallOptions } from './call-options.ts';
import type { FileRecord } from './files.ts';
import type { Download, DownloadOptions } from './transfers.ts';

export interface FolderLinkRequest extends CallOptions {
  readonly bucket: string;
  /** The folder with its final slash, such as `trip/`; '' for the whole bucket. */
  readonly prefix: string;
  /**
   * Name of the link's API key, for lists: at most 64 characters, and 47 in an end-to-end bucket.
   *
   * @example
   * ```ts
   * const folder = { bucket: 'demo', prefix: 'notes/' };
   * const { id } = await storage.folderLinks.create({ ...folder, name: 'For Ada' });
   * console.log(id);
   * ```
   */
  readonly name?: string | undefined;
  /** Without it the link works until it is removed. */
  readonly expiresAt?: Date | undefined;
  /**
   * Called in an end-to-end bucket for each file whose key has been read.
   *
   * @example
   * ```ts
   * const onProgress = (done: number, total: number) => console.log(done, total);
   * await storage.folderLinks.create({ bucket: 'demo', prefix: 'notes/', onProgress });
   * ```
   */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** The number of an end-to-end bucket's files whose keys a link contains. */
export interface SharedKeys {
  /** Files that the link opens. */
  readonly fileCount: number;
  /** Files that the caller cannot decrypt, so that the link does not open them. */
  readonly unreadable: readonly string[];
}

/** A folder's link with its address, which only create() returns. */
export interface NewFolderLink {
  /** The id of the link's API key. */
  readonly id: string;
  /** Anyone with the address can list and read the folder. */
  readonly url: string;
  /** ISO 8601. */
  readonly expiresAt?: string | undefined;
  /** Absent unless the bucket is end-to-end. */
  readonly keys?: SharedKeys | undefined;
}

export interface SharedFile extends FileRecord {
  /** Relative to the folder. */
  readonly path: string;
}

/** A folder that was opened by its link. */
export interface SharedFolder {
  /**
   * Lists the files, with paths relative to the folder. A file of an end-to-end bucket that was
   * stored after the sharing has `afterSharing`.
   *
   * @example
   * ```ts
   * import { openFolderLink } from '@encrypted-file-storage/client';
   *
   * const { url } = await storage.folderLinks.create({ bucket: 'demo', prefix: 'notes/' });
   * const folder = await openFolderLink(url);
   * for await (const { path, size } of folder.list()) console.log(path, size);
   * ```
   */
  list(options?: CallOptions): AsyncIterable<SharedFile>;
  /**
   * Downloads a file by its path relative to the folder. Throws NoIdentity if the file of an
   * end-to-end bucket was stored after the sharing.
   *
   * @example
   * ```ts
   * import { openFolderLink } from '@encrypted-file-storage/client';
   *
   * const { url } = await storage.folderLinks.create({ bucket: 'demo', prefix: 'notes/' });
   * const folder = await openFolderLink(url);
   * console.log(await (await folder.download('hello.txt')).bytes());
   * ```
   */
  download(path: string, options?: DownloadOptions): Promise<Download>;
}

/** Links to folders; they require the actor and an owner of the bucket. */
export interface FolderLinks {
  /**
   * Creates a link to a folder: anyone with the address can list and read it. The link shows the
   * folder as it is; in an end-to-end bucket, it opens the files of now, up to 5,000, until it is
   * refreshed. Not retried: a second link could remain whose address nobody has.
   *
   * @example
   * ```ts
   * const expiresAt = new Date(Date.now() + 86_400_000);
   * const folder = { bucket: 'demo', prefix: 'notes/' };
   * const { id, url } = await storage.folderLinks.create({ ...folder, expiresAt });
   * console.log(url);
   * await storage.folderLinks.remove('demo', id);
   * ```
   */
  create(request: FolderLinkRequest): Promise<NewFolderLink>;
  /**
   * Makes the link of an end-to-end bucket open the folder's present files. Its address stays.
   *
   * @example
   * ```ts
   * await storage.buckets.create('holidays', { endToEnd: {} });
   * await storage.upload(new Blob(['one']), { bucket: 'holidays', path: 'trip/1.txt' });
   * const { url } = await storage.folderLinks.create({ bucket: 'holidays', prefix: 'trip/' });
   * await storage.upload(new Blob(['two']), { bucket: 'holidays', path: 'trip/2.txt' });
   * const { fileCount } = await storage.folderLinks.refresh(url);
   * console.log(fileCount);
   * ```
   */
  refresh(url: string, options?: FolderRefreshOptions): Promise<SharedKeys>;
  /**
   * Removes a link, which stops working at once, with its list of keys.
   *
   * @param id the id of the link's API key
   *
   * @example
   * ```ts
   * const { id } = await storage.folderLinks.create({ bucket: 'demo', prefix: 'notes/' });
   * await storage.folderLinks.remove('demo', id);
   * ```
   */
  remove(bucket: string, id: string, options?: CallOptions): Promise<void>;
}

export interface FolderRefreshOptions extends CallOptions, Pick<FolderLinkRequest, 'onProgress'> {}
