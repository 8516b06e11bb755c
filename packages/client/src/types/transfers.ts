// Uploads and downloads: their options, their progress, and upload sessions.

import type { UploadInput } from '../bytes/upload-source.ts';
import type { StorageError } from '../storage-error.ts';
import type { CallOptions } from './call-options.ts';
import type { FileName, FileRecord, ShownPath, StoredHeaders, UserMetadata } from './files.ts';

export type UploadStatus = 'active' | 'ready' | 'completed' | 'cancelled' | 'expired';

export interface UploadSession extends ShownPath {
  readonly uploadId: string;
  readonly bucketId: string;
  readonly path: string;
  readonly contentType: string;
  readonly tags: readonly string[];
  /** The bytes received so far while `isSizeKnown` is false. */
  readonly totalSize: number;
  readonly isSizeKnown: boolean;
  readonly uploadedSize: number;
  readonly chunkSize: number;
  readonly chunkCount: number;
  readonly receivedChunks: number;
  /** The first 100 missing indexes. */
  readonly missing: readonly number[];
  readonly status: UploadStatus;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly fileId?: string | undefined;
  /** Passed to `onSession` in an end-to-end bucket; a resumed upload needs it. Not a secret. */
  readonly ageHeader?: string | undefined;
}

export interface Progress {
  /** Bytes that have been transferred, including those of an earlier attempt. */
  readonly doneBytes: number;
  /** `doneBytes` plus the bytes of requests under way; falls again when one of them fails. */
  readonly movedBytes: number;
  /** Undefined for a stream whose size is unknown. */
  readonly totalBytes: number | undefined;
  /** The part of `doneBytes` that an earlier attempt transferred. */
  readonly resumedBytes: number;
}

export interface TransferOptions extends CallOptions {
  /**
   * @example
   * ```ts
   * await storage.upload(new Uint8Array(4_000_000), {
   *   bucket: 'demo',
   *   path: 'zeros.bin',
   *   concurrency: 2,
   *   onProgress: ({ doneBytes, totalBytes }) => console.log(doneBytes, totalBytes),
   * });
   * ```
   */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /**
   * Concurrent requests, 1 to 32, 8 by default. Each holds one chunk in memory. Uploads in shorter
   * chunks use more requests, up to 32, but no more memory.
   */
  readonly concurrency?: number | undefined;
}

export interface UploadOptions extends TransferOptions, FileName {
  /**
   * By default the source's type (of a Blob), else the type of the path's extension.
   *
   * @example
   * ```ts
   * await storage.upload(new Blob(['a,b']), {
   *   bucket: 'demo',
   *   path: 'table.csv',
   *   contentType: 'text/csv',
   *   tags: ['table'],
   *   headers: { 'Cache-Control': 'no-cache' },
   * });
   * ```
   */
  readonly contentType?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly headers?: StoredHeaders | undefined;
  /**
   * Stored in the file's record. A function is called once, after the last byte of the source has
   * been read and before the file is stored, so it can return values such as a digest.
   *
   * @example
   * ```ts
   * const startedMs = Date.now();
   * await storage.upload(new Blob(['hello']), {
   *   bucket: 'demo',
   *   path: 'notes/hello.txt',
   *   metadata: () => ({ readingMs: String(Date.now() - startedMs) }),
   * });
   * ```
   */
  readonly metadata?: UserMetadata | (() => UserMetadata | Promise<UserMetadata>) | undefined;
  /**
   * SHA-256 of the whole file in hexadecimal; the service checks files up to 19,000,000 bytes.
   *
   * @example
   * ```ts
   * const sha256 = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
   * await storage.upload(new Blob(['hello']), { bucket: 'demo', path: 'notes/hello.txt', sha256 });
   * ```
   */
  readonly sha256?: string | undefined;
  /**
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { etag } = await storage.stat(file);
   * await storage.upload(new Blob(['changed']), { ...file, ifMatch: etag });
   * ```
   */
  readonly ifMatch?: string | undefined;
  /**
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/first.txt' };
   * await storage.upload(new Blob(['new']), { ...file, ifNoneMatch: '*' });
   * ```
   */
  readonly ifNoneMatch?: string | undefined;
  /**
   * The length of a stream, if known; other sources know their own.
   *
   * @example
   * ```ts
   * const source = new Blob(['hello']).stream();
   * await storage.upload(source, { bucket: 'demo', path: 'notes/hello.txt', size: 5 });
   * ```
   */
  readonly size?: number | undefined;
  /** 65,536 to 1,900,000 bytes; 1,900,000 by default. */
  readonly chunkBytes?: number | undefined;
  /**
   * Id of an earlier session for the same file: only its missing chunks are sent.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'zeros.bin' };
   * const source = new Blob([new Uint8Array(4_000_000)]);
   * const stop = new AbortController();
   * let resume: string | undefined;
   * let ageHeader: string | undefined;
   * const stopped = storage.upload(source, {
   *   ...file,
   *   signal: stop.signal,
   *   onSession: (session) => {
   *     ({ uploadId: resume, ageHeader } = session);
   *     stop.abort();
   *   },
   * });
   * await stopped.catch(({ message }) => console.error(message));
   * await storage.upload(source, { ...file, resume, ageHeader });
   * ```
   */
  readonly resume?: string | undefined;
  /**
   * Required with `resume` in an end-to-end bucket. If the bucket's recipients have changed since,
   * the upload starts again from the beginning, with another session.
   */
  readonly ageHeader?: string | undefined;
  /**
   * Called with the session once it exists, and before the last of several chunks is sent; others
   * may be under way meanwhile. A small file is stored without a session.
   */
  readonly onSession?: ((session: UploadSession) => void | Promise<void>) | undefined;
}

/** One of several files, with the options of a single upload. */
export interface FileToUpload
  extends Pick<
    UploadOptions,
    | 'path'
    | 'contentType'
    | 'tags'
    | 'headers'
    | 'metadata'
    | 'sha256'
    | 'ifMatch'
    | 'ifNoneMatch'
    | 'size'
  > {
  readonly source: UploadInput;
}

export interface UploadAllOptions extends CallOptions {
  readonly bucket: string;
  /**
   * Concurrent requests, 1 to 32, 8 by default.
   *
   * @example
   * ```ts
   * const files = [{ path: 'one.txt', source: new Blob(['one']) }];
   * for await (const { path } of storage.uploadAll(files, { bucket: 'demo', concurrency: 2 })) {
   *   console.log(path);
   * }
   * ```
   */
  readonly concurrency?: number | undefined;
}

/** The stored file's record, or the error for this path. */
export type UploadedFile = { readonly path: string } & (
  | { readonly file: FileRecord; readonly error?: undefined }
  | { readonly error: StorageError; readonly file?: undefined }
);

/** A file to download, such as a record of a list. A known small size lets files share requests. */
export interface FileToDownload {
  readonly path: string;
  readonly size?: number | undefined;
}

export type FilesToDownload = Iterable<FileToDownload> | AsyncIterable<FileToDownload>;

export interface DownloadAllOptions extends CallOptions {
  readonly bucket: string;
  /**
   * Concurrent requests, 1 to 32, 8 by default.
   *
   * @example
   * ```ts
   * const files = storage.list({ bucket: 'demo', prefix: 'notes/' });
   * for await (const { path } of storage.downloadAll(files, { bucket: 'demo', concurrency: 2 })) {
   *   console.log(path);
   * }
   * ```
   */
  readonly concurrency?: number | undefined;
  /**
   * If false, the bytes of files are not compared with their digests.
   *
   * @example
   * ```ts
   * const files = [{ path: 'notes/hello.txt', size: 5 }];
   * for await (const one of storage.downloadAll(files, { bucket: 'demo', verify: false })) {
   *   console.log(await one.download?.bytes());
   * }
   * ```
   */
  readonly verify?: boolean | undefined;
}

/** The download, whose bytes are read by the caller, or the error for this path. */
export type DownloadedFile = { readonly path: string } & (
  | { readonly download: Download; readonly error?: undefined }
  | { readonly error: StorageError; readonly download?: undefined }
);

export interface UploadListOptions extends CallOptions {
  readonly bucket: string;
}

export interface DownloadOptions extends TransferOptions {
  /**
   * The number of the present or a former version.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { version } = await storage.stat(file);
   * const download = await storage.download(file, { version });
   * console.log(await new Response(download.body).text());
   * ```
   */
  readonly version?: number | undefined;
  /**
   * The bytes [start, end). A partial download is not compared with the file's digest.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const download = await storage.download(file, { range: { start: 0, end: 4 } });
   * console.log(await new Response(download.body).text()); // hell
   * ```
   */
  readonly range?: { readonly start: number; readonly end?: number } | undefined;
  /**
   * The bytes of an earlier download and its ETag; its whole chunks are not fetched again.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const first = await storage.download(file);
   * const received = await first.bytes();
   * const rest = await storage.download(file, { resume: { etag: first.etag, received } });
   * console.log(rest.start);
   * ```
   */
  readonly resume?: { readonly etag: string; readonly received: UploadInput } | undefined;
  /**
   * If false, the bytes of a whole file are not compared with its digest.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const download = await storage.download(file, { verify: false });
   * console.log((await download.bytes()).length);
   * ```
   */
  readonly verify?: boolean | undefined;
  /**
   * Also compares a whole file with a record that the network signs, so that no single node can
   * return other bytes. Takes some seconds. Requires the actor, and a member or a key that may
   * read.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const download = await storage.download(file, { certified: true });
   * console.log(await new Response(download.body).text());
   * ```
   */
  readonly certified?: boolean | undefined;
  /**
   * The length of the file's chunks, for transports that do not report it.
   *
   * @example
   * ```ts
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const download = await storage.download(file, { chunkBytes: 1_900_000 });
   * console.log((await download.bytes()).length);
   * ```
   */
  readonly chunkBytes?: number | undefined;
}

export interface Download {
  /** '' if a gateway hides it from pages of other origins; the bytes are not verified then. */
  readonly etag: string;
  /** The size of the whole file. */
  readonly size: number;
  readonly contentType: string | undefined;
  /** The offset in the file of the body's first byte. */
  readonly start: number;
  /** Fails with IntegrityError at its end if the bytes do not match the file's digest. */
  readonly body: ReadableStream<Uint8Array>;
  /** Reads the whole body; fails as the stream does. Use either this or `body`. */
  bytes(): Promise<Uint8Array>;
}
