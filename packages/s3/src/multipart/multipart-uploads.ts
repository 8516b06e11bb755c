// Multipart uploads, stored as files on this server's disk, so that they survive a restart. Uploads
// unused for a day are removed, as in the service.

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ownerOnlyFolder } from '../durable-files.ts';
import { S3Error } from '../s3-error.ts';
import { MultipartUpload, noSuchUpload } from './multipart-upload.ts';
import { Spool } from './spool.ts';
import { logPath, UploadLog, type UploadStart } from './upload-log.ts';

export interface MultipartOptions {
  /** Used only by this S3 server; created if it is missing. */
  readonly folder: string;
  /** Maximum bytes in the spool; default 20 GB. */
  readonly spoolBytesMax?: number | undefined;
  /** Minimum bytes of every part except the last; default 5 MiB, as in S3. */
  readonly partBytesMin?: number | undefined;
}

/** The access key, bucket and key of an upload. */
export interface UploadOwner {
  readonly holder: string;
  readonly bucket: string;
  readonly key: string;
}

const logEnding = '.log';
/** Hexadecimal, because some clients take an id with a leading hyphen for an option. */
const idBytes = 16;
const idleMsMax = 24 * 3_600_000;
const sweepMs = 3_600_000;
/** Maximum number of uploads of all callers, including those completed in the last day. */
const uploadsMax = 10_000;
const spoolBytes = 20_000_000_000;
const partBytes = 5_242_880;

export class MultipartUploads {
  readonly partBytesMin: number;
  readonly #options: MultipartOptions;
  readonly #uploads = new Map<string, Promise<MultipartUpload | undefined>>();
  #spool: Promise<Spool> | undefined;
  #sweptMs = Number.NEGATIVE_INFINITY;

  constructor(options: MultipartOptions) {
    this.#options = options;
    this.partBytesMin = options.partBytesMin ?? partBytes;
  }

  async create(start: Omit<UploadStart, 'uploadId' | 'begunAt'>): Promise<string> {
    const spool = await this.#opened();
    await this.#sweep(spool);
    await this.#requireRoom();
    const uploadId = randomBytes(idBytes).toString('hex');
    const begunAt = new Date().toISOString();
    const log = await UploadLog.create(this.#options.folder, { ...start, uploadId, begunAt });
    this.#uploads.set(uploadId, Promise.resolve(new MultipartUpload(log, spool)));
    return uploadId;
  }

  /** Throws NoSuchUpload, also for an upload of another holder, bucket or key. */
  async find(uploadId: string, owner: UploadOwner): Promise<MultipartUpload> {
    const upload = /^[0-9a-f]{32}$/.test(uploadId) ? await this.#open(uploadId) : undefined;
    const { holder, bucket, key } = upload?.state.start ?? {};
    const isOwn = holder === owner.holder && bucket === owner.bucket && key === owner.key;
    if (upload === undefined || !isOwn) throw noSuchUpload();
    return upload;
  }

  /** Lists the open uploads of a bucket, by key and then by age. */
  async list({ holder, bucket }: Omit<UploadOwner, 'key'>): Promise<UploadStart[]> {
    await this.#opened();
    const open: UploadStart[] = [];
    for (const name of await readdir(this.#options.folder)) {
      if (!name.endsWith(logEnding)) continue;
      const upload = await this.#open(uploadOf(name)).catch(() => undefined);
      const { start, completed } = upload?.state ?? {};
      if (start?.holder === holder && start.bucket === bucket && !completed) open.push(start);
    }
    return open.sort(
      (one, other) => compare(one.key, other.key) || compare(one.begunAt, other.begunAt),
    );
  }

  /** Releases the memory of an upload; its files on the disk stay. */
  release(uploadId: string): void {
    this.#uploads.delete(uploadId);
  }

  /** Must be called after the upload was aborted. */
  async forget(uploadId: string): Promise<void> {
    this.release(uploadId);
    await rm(logPath(this.#options.folder, uploadId), { force: true });
  }

  #open(uploadId: string): Promise<MultipartUpload | undefined> {
    const known = this.#uploads.get(uploadId);
    if (known !== undefined) return known;
    const opened = this.#read(uploadId);
    this.#uploads.set(uploadId, opened);
    // Requests for ended uploads are rare, and remembering invalid ids would use memory without
    // limit.
    const release = () => this.release(uploadId);
    opened.then((upload) => {
      const isOpen = upload !== undefined && upload.state.completed === undefined;
      if (!isOpen) release();
    }, release);
    return opened;
  }

  async #read(uploadId: string): Promise<MultipartUpload | undefined> {
    const spool = await this.#opened();
    const log = await UploadLog.open(this.#options.folder, uploadId);
    return log && new MultipartUpload(log, spool);
  }

  #opened(): Promise<Spool> {
    this.#spool ??= this.#openSpool().catch((error) => {
      // The folder may be usable at the next request.
      this.#spool = undefined;
      throw error;
    });
    return this.#spool;
  }

  async #openSpool(): Promise<Spool> {
    const { folder, spoolBytesMax = spoolBytes } = this.#options;
    await mkdir(folder, { recursive: true, mode: ownerOnlyFolder });
    return Spool.open(folder, spoolBytesMax);
  }

  /** Removes uploads unused for a day; runs at most once per hour. */
  async #sweep(spool: Spool): Promise<void> {
    const nowMs = Date.now();
    if (nowMs - this.#sweptMs < sweepMs) return;
    this.#sweptMs = nowMs;
    const { folder } = this.#options;
    const names = await readdir(folder);
    const touchedMs = new Map<string, number>();
    for (const name of names) {
      const { mtimeMs = nowMs } = (await stat(join(folder, name)).catch(() => undefined)) ?? {};
      const uploadId = uploadOf(name);
      touchedMs.set(uploadId, Math.max(mtimeMs, touchedMs.get(uploadId) ?? 0));
    }
    for (const name of names) {
      const uploadId = uploadOf(name);
      if (nowMs - (touchedMs.get(uploadId) ?? nowMs) < idleMsMax) continue;
      await (name.endsWith(logEnding) ? this.forget(uploadId) : spool.remove(name));
    }
  }

  async #requireRoom(): Promise<void> {
    const names = await readdir(this.#options.folder);
    if (names.filter((name) => name.endsWith(logEnding)).length < uploadsMax) return;
    throw new S3Error(
      'SlowDown',
      `The server already has ${uploadsMax} multipart uploads of the last day: complete or abort some.`,
    );
  }
}

/** Names of files begin with the upload's id. */
function uploadOf(name: string): string {
  return name.slice(0, name.indexOf('.'));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
