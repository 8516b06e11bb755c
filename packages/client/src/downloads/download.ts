// Downloads one file: fetches its chunks in parallel, returns them in order, and compares a whole
// file with its entity tag. Holds one chunk for each concurrent request.

import { chunkBytesMax } from '../../../wire/src/limits.ts';
import { joinPieces } from '../bytes/byte-stream.ts';
import { etagOf } from '../bytes/digest.ts';
import { sha256 } from '../bytes/sha256.ts';
import { openSource } from '../bytes/upload-source.ts';
import { type Connection, perform, trying } from '../connection/connection.ts';
import { linkedController } from '../connection/linked-controller.ts';
import { checkedConcurrency } from '../connection/parallel.ts';
import { type PartLink, partLinkTo } from '../links/part-link.ts';
import type { OpenedFile } from '../operations/transfers.ts';
import { StorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';
import type { Download, DownloadOptions } from '../types/transfers.ts';
import { requireVersionNumber } from '../types/version-number.ts';

interface Job {
  readonly connection: Connection;
  readonly name: FileName;
  readonly file: OpenedFile;
  readonly options: DownloadOptions;
  /** The requested bytes: [start, end). */
  readonly start: number;
  readonly end: number;
  /** The length of one request. */
  readonly partBytes: number;
  /** Digests of the chunks so far; undefined if nothing is verified. */
  readonly digests: Uint8Array[] | undefined;
  /** Reads the parts through a temporary link; undefined if they are read directly. */
  readonly link?: PartLink | undefined;
}

/**
 * A private file with more chunks is read over HTTP through a temporary link, so that its bytes are
 * certified. The link's two updates take about 4 s on the network, the time in which a line of
 * 16 Mbit/s transfers this many chunks, so a shorter file would take at least twice as long.
 */
const directPartsMax = 4;

/** Downloads a file; `opened` is the file if the caller has opened it already. */
export async function downloadFile(
  connection: Connection,
  name: FileName,
  options: DownloadOptions = {},
  opened?: OpenedFile,
): Promise<Download> {
  const { signal, range, version } = options;
  checkedConcurrency(options.concurrency);
  requireVersionNumber(version);
  const wantsFirst = range === undefined;
  const file =
    opened ??
    (await perform(
      connection,
      'openFile',
      { bucket: name.bucket, path: name.path, version, wantsFirst },
      signal,
    ));
  const job = range === undefined ? await wholeJob() : rangeJob();
  const { etag, size, contentType } = file;
  const reader = partReader(job);
  let body: ReadableStream<Uint8Array> | undefined;
  return {
    etag,
    size,
    contentType,
    start: job.start,
    get body() {
      body ??= bodyOf(reader);
      return body;
    },
    bytes: () => allBytes(reader),
  };

  function rangeJob(): Job {
    const { start, end = file.size } = range ?? { start: 0 };
    if (!(start >= 0 && start < Math.min(end, file.size))) {
      throw new StorageError(
        'InvalidRange',
        `The range is not within the file's ${file.size} bytes.`,
      );
    }
    const bounds = { start, end: Math.min(end, file.size), partBytes: chunkBytesMax };
    return { connection, name, file, options, ...bounds, digests: undefined };
  }

  async function wholeJob(): Promise<Job> {
    const partBytes = chunkBytesOf(file, options);
    const isUnverified = options.verify === false || file.etag === '';
    const digests = isUnverified ? undefined : [];
    const start = digests && (await resumedBytes({ file, options, partBytes, digests }));
    const bounds = { start: start ?? 0, end: file.size, partBytes: partBytes ?? chunkBytesMax };
    const { isAnonymous, version } = file;
    // A link serves only the present version.
    const isLinkable = !isAnonymous && version === undefined && connection.transport.readsByLinks;
    // Only whole chunks are certified.
    const isInChunks = file.chunkBytes === partBytes;
    const isLong = file.size > directPartsMax * bounds.partBytes;
    const link = isLinkable && isInChunks && isLong ? partLinkTo(connection, name) : undefined;
    return { connection, name, file, options, ...bounds, digests, link };
  }
}

function chunkBytesOf(file: OpenedFile, options: DownloadOptions): number | undefined {
  const known = options.chunkBytes ?? file.chunkBytes;
  if (known !== undefined) return known;
  if (options.verify === false) return undefined;
  throw unknownChunkLength();
}

/** Hashes the whole chunks of an earlier download, and returns the offset of the next chunk. */
async function resumedBytes(input: {
  readonly file: OpenedFile;
  readonly options: DownloadOptions;
  readonly partBytes: number | undefined;
  readonly digests: Uint8Array[];
}): Promise<number> {
  const { file, options, partBytes, digests } = input;
  const { resume } = options;
  if (resume === undefined || partBytes === undefined) return 0;
  if (resume.etag !== file.etag) {
    throw new StorageError(
      'PreconditionFailed',
      'The file was replaced; download it from the start.',
    );
  }
  const sourceOptions = { size: undefined, bufferedBytesMax: Number.MAX_SAFE_INTEGER };
  const received = await openSource(resume.received, sourceOptions);
  let start = 0;
  const size = received.size ?? 0;
  for (; start < file.size && start + partBytes <= size; start += partBytes) {
    digests.push(await sha256(await received.slice(start, start + partBytes)));
  }
  return start;
}

interface Part {
  readonly bytes: Uint8Array;
  readonly digest: Uint8Array | undefined;
}

interface PartReader {
  /** Returns the parts in order, then `undefined` once the whole has been verified. */
  next(): Promise<Uint8Array | undefined>;
  stop(reason: unknown): void;
}

function partReader(job: Job): PartReader {
  const { options, start, end, partBytes } = job;
  const concurrency = checkedConcurrency(options.concurrency);
  const { controller, release } = linkedController(options.signal);
  const { signal } = controller;
  // An aborted download does not wait for the link's removal.
  if (signal.aborted) job.link?.remove();
  signal.addEventListener('abort', () => job.link?.remove(), { once: true });
  const stop = (reason: unknown) => {
    release();
    controller.abort(reason);
  };
  const parts: Promise<Part>[] = [];
  let position = start;
  let doneBytes = start;
  /** Received bytes of the parts that have not been returned yet, by position. */
  const received = new Map<number, number>();
  const report = () => {
    const movedBytes = [...received.values()].reduce((sum, bytes) => sum + bytes, doneBytes);
    options.onProgress?.({ doneBytes, movedBytes, totalBytes: end, resumedBytes: start });
  };
  const fill = () => {
    while (parts.length < concurrency && position < end) {
      const from = position;
      const part = fetchPart(job, from, signal, (bytes) => {
        received.set(from, bytes);
        report();
      });
      // The part is awaited later; until then its failure must not count as unhandled.
      part.catch(() => {});
      parts.push(part);
      position += partBytes;
    }
  };
  async function next(): Promise<Uint8Array | undefined> {
    fill();
    const part = await parts.shift();
    if (part === undefined) {
      await job.link?.remove();
      await requireDigest(job);
      release();
      return undefined;
    }
    if (part.digest !== undefined) job.digests?.push(part.digest);
    received.delete(doneBytes);
    doneBytes += part.bytes.length;
    report();
    // With a concurrency of 1, the caller wants only one chunk in memory.
    if (concurrency > 1) fill();
    return part.bytes;
  }
  return {
    next: () =>
      next().catch((error) => {
        stop(error);
        throw error;
      }),
    stop,
  };
}

function bodyOf(reader: PartReader): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        const bytes = await reader.next();
        if (bytes === undefined) sink.close();
        else sink.enqueue(bytes);
      },
      cancel: (reason) => reader.stop(reason),
    },
    { highWaterMark: 0 },
  );
}

async function allBytes(reader: PartReader): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (;;) {
    const bytes = await reader.next();
    if (bytes === undefined) return joinPieces(pieces);
    pieces.push(bytes);
  }
}

async function fetchPart(
  job: Job,
  start: number,
  signal: AbortSignal,
  onReceived: (bytes: number) => void,
): Promise<Part> {
  const { connection, name, file, link } = job;
  const end = Math.min(start + job.partBytes, job.end);
  const isChunk = job.options.range === undefined;
  const { etag, isAnonymous, version, current } = file;
  const first = firstOnce(file);
  // A gateway may send more than was requested.
  const received = (bytes: number) => onReceived(Math.min(bytes, end - start));
  const asked = { ...name, start, end, etag, isChunk, isAnonymous, version, current };
  const part = { ...asked, onReceived: received };
  const waitsForLink = job.digests === undefined || end === job.end;
  const read = () =>
    link
      ? link.read({ ...part, waitsForLink }, signal)
      : connection.transport.readPart(part, signal);
  const { down } = connection.transport.line;
  const bytes =
    start === 0 && first?.length === end
      ? first
      : await trying(connection, signal, () => down.run(end - start, signal, read));
  return { bytes, digest: job.digests && (await sha256(bytes)) };
}

/** Returns the first chunk once and releases it, since it is megabytes long. */
function firstOnce(file: OpenedFile): Uint8Array | undefined {
  const { first } = file;
  file.first = undefined;
  return first;
}

async function requireDigest({ options, digests, file }: Job): Promise<void> {
  if (digests === undefined) return;
  const actual = await etagOf(digests);
  if (actual === file.etag) return;
  if (file.isGuessed && options.chunkBytes === undefined) throw unknownChunkLength();
  throw new StorageError(
    'IntegrityError',
    `The bytes do not match the file: their ETag is ${actual}, the file's is ${file.etag}.`,
  );
}

function unknownChunkLength(): StorageError {
  return new StorageError(
    'Unsupported',
    'The chunk length is unknown: pass chunkBytes or verify: false, or download over HTTP.',
  );
}
