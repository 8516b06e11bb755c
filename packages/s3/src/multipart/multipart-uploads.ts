// Multipart uploads, stored as files on this server's disk, so that they survive a restart. Uploads
// unused for a day are removed, as in the service. The limits leave room for other access keys.

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ownerOnlyFolder } from '../durable-files.ts';
import { S3Error } from '../s3-error.ts';
import { MultipartUpload, noSuchUpload } from './multipart-upload.ts';
import { Spool } from './spool.ts';
import { logPath, UploadLog, type UploadStart, uploadOf } from './upload-log.ts';

export interface MultipartOptions {
  /** Used only by this S3 server; created if it is missing. */
  readonly folder: string;
  /** Maximum bytes in the spool, of which one access key uses at most half; default 40 GB. */
  readonly spoolBytesMax?: number | undefined;
  /** Maximum number of open uploads, of which one key has at most half; default 10,000. */
  readonly uploadsMax?: number | undefined;
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
/** For this time at least, a repeated completion returns the same result. */
const completedMsMax = 3_600_000;
const sweepMs = 3_600_000;
const openUploads = 10_000;
/** The largest object fits into the half of one access key. */
const spoolBytes = 40_000_000_000;
const partBytes = 5_242_880;

export class MultipartUploads {
  readonly partBytesMin: number;
  readonly #options: MultipartOptions;
  readonly #report: (line: string) => void;
  /** Lines that were reported: a list request reads each unreadable log again. */
  readonly #reported = new Set<string>();
  readonly #uploads = new Map<string, Promise<MultipartUpload | undefined>>();
  /** The access keys of all open uploads, also of those that are not in memory. */
  readonly #holders = new Map<string, string>();
  #spool: Promise<Spool> | undefined;
  #sweptMs = Number.NEGATIVE_INFINITY;

  /** `report` receives one line about each file that cannot be used. */
  constructor(options: MultipartOptions, report: (line: string) => void = () => {}) {
    this.#options = options;
    this.#report = report;
    this.partBytesMin = options.partBytesMin ?? partBytes;
  }

  async create(start: Omit<UploadStart, 'uploadId' | 'begunAt'>): Promise<string> {
    const spool = await this.#opened();
    await this.#sweep(spool);
    this.#requireRoom(start.holder);
    const uploadId = randomBytes(idBytes).toString('hex');
    const begunAt = new Date().toISOString();
    const log = await UploadLog.create(this.#options.folder, { ...start, uploadId, begunAt });
    this.#uploads.set(uploadId, Promise.resolve(new MultipartUpload(log, spool)));
    this.#holders.set(uploadId, start.holder);
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
      const upload = await this.#open(uploadOf(name)).catch((error) => this.#passOver(name, error));
      const { start, completed } = upload?.state ?? {};
      if (start?.holder === holder && start.bucket === bucket && !completed) open.push(start);
    }
    return open.sort(
      (one, other) => compare(one.key, other.key) || compare(one.begunAt, other.begunAt),
    );
  }

  /** Must be called after the upload was completed; its log stays for repeated completions. */
  release(uploadId: string): void {
    this.#uploads.delete(uploadId);
    this.#holders.delete(uploadId);
  }

  /** Must be called after the upload was aborted. */
  async forget(uploadId: string): Promise<void> {
    // An upload whose log remains also counts after a restart.
    await rm(logPath(this.#options.folder, uploadId), { force: true });
    this.release(uploadId);
  }

  #open(uploadId: string): Promise<MultipartUpload | undefined> {
    const known = this.#uploads.get(uploadId);
    if (known !== undefined) return known;
    const opened = this.#read(uploadId);
    this.#uploads.set(uploadId, opened);
    // Requests for ended uploads are rare, and remembering invalid ids would use memory without
    // limit.
    const close = () => this.#uploads.delete(uploadId);
    opened.then((upload) => {
      const isOpen = upload !== undefined && upload.state.completed === undefined;
      if (!isOpen) close();
    }, close);
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
    await this.#readHolders();
    return Spool.open(folder, spoolBytesMax, this.#holders, (...file) => this.#passOver(...file));
  }

  /** Reads the logs of an earlier run. */
  async #readHolders(): Promise<void> {
    const { folder } = this.#options;
    for (const name of await readdir(folder)) {
      if (!name.endsWith(logEnding)) continue;
      const uploadId = uploadOf(name);
      // An unreadable log names no holder, but counts until it is removed.
      this.#holders.set(uploadId, '');
      const log = await UploadLog.open(folder, uploadId).catch((error) =>
        this.#passOver(name, error),
      );
      if (log?.state.completed !== undefined) this.#holders.delete(uploadId);
      else if (log !== undefined) this.#holders.set(uploadId, log.state.start.holder);
    }
  }

  /** Reports that one file cannot be used, so that the other uploads continue. */
  #passOver(name: string, { message }: Error): undefined {
    const line = `The file ${name} of a multipart upload is passed over: ${message}`;
    if (this.#reported.has(line)) return;
    this.#reported.add(line);
    this.#report(line);
  }

  /** Removes unused and completed uploads; runs at most once per hour. */
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
      const msMax = this.#holders.has(uploadId) ? idleMsMax : completedMsMax;
      if (nowMs - (touchedMs.get(uploadId) ?? nowMs) < msMax) continue;
      const removed = name.endsWith(logEnding) ? this.forget(uploadId) : spool.remove(name);
      await removed.catch((error) => this.#passOver(name, error));
    }
  }

  #requireRoom(holder: string): void {
    const { uploadsMax = openUploads } = this.#options;
    const own = [...this.#holders.values()].filter((other) => other === holder).length;
    const ownMax = Math.floor((uploadsMax - (this.#holders.size - own)) / 2);
    if (own < ownMax) return;
    throw new S3Error(
      'SlowDown',
      `This access key has ${own} open multipart uploads; at most ${ownMax} are for it now: ` +
        'complete or abort some.',
    );
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
