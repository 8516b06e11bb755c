// Download of one file: its chunks are fetched in parallel and given in order. A whole file's bytes
// must have the digest that its entity tag tells. Holds one chunk for each request under way.

import { chunkBytesMax } from '../../wire/src/limits.ts';
import { onAbort } from './abort.ts';
import { type Connection, trying } from './connection.ts';
import { chunkCountOf, etagOf, likelyChunkBytes, sha256 } from './digest.ts';
import type { Download, DownloadOptions, FileName } from './interface.ts';
import { checkedConcurrency } from './parallel.ts';
import { type PartLink, partLinkTo } from './part-link.ts';
import { StorageError } from './storage-error.ts';
import type { OpenedFile } from './transport.ts';
import { openSource } from './upload-source.ts';

interface Job {
  readonly connection: Connection;
  readonly name: FileName;
  readonly file: OpenedFile;
  readonly options: DownloadOptions;
  /** Bytes asked for: [start, end). */
  readonly start: number;
  readonly end: number;
  /** Of one request. */
  readonly partBytes: number;
  /** Digests of the chunks before `start`; undefined when nothing is verified. */
  readonly digests: Uint8Array[] | undefined;
  /** What parts are read by; undefined: as the file was opened. */
  readonly link?: PartLink | undefined;
}

/** Of a private file, that its own link is worth. */
const linkedPartsMin = 4;

export async function downloadFile(
  connection: Connection,
  name: FileName,
  options: DownloadOptions = {},
): Promise<Download> {
  const { signal, range } = options;
  checkedConcurrency(options.concurrency);
  const wantsFirst = range === undefined;
  const file = await trying(connection, signal, () =>
    connection.transport.openFile(name, { wantsFirst, signal }),
  );
  const job = range === undefined ? await wholeJob() : rangeJob();
  const { etag, size, contentType } = file;
  return { etag, size, contentType, start: job.start, body: bodyOf(job) };

  function rangeJob(): Job {
    const { start, end = file.size } = range ?? { start: 0 };
    if (!(start >= 0 && start < Math.min(end, file.size))) {
      throw new StorageError('InvalidRange', `The file has ${file.size} bytes: ask for some.`);
    }
    const bounds = { start, end: Math.min(end, file.size), partBytes: chunkBytesMax };
    return { connection, name, file, options, ...bounds, digests: undefined };
  }

  async function wholeJob(): Promise<Job> {
    const partBytes = chunkBytesOf(file, options);
    const digests = options.verify === false ? undefined : [];
    const start = digests && (await resumedBytes({ file, options, partBytes, digests }));
    const bounds = { start: start ?? 0, end: file.size, partBytes: partBytes ?? chunkBytesMax };
    const needsKey = !file.isAnonymous && connection.transport.readsByLinks;
    // What does not begin and end with a chunk is certified at no address. A link takes two
    // updates, some seconds: few parts are read by the key, and compared with the entity tag too.
    const isInChunks = file.chunkBytes === partBytes;
    const isLong = file.size > linkedPartsMin * bounds.partBytes;
    const link = needsKey && isInChunks && isLong ? partLinkTo(connection, name) : undefined;
    return { connection, name, file, options, ...bounds, digests, link };
  }
}

function chunkBytesOf(file: OpenedFile, options: DownloadOptions): number | undefined {
  const known = options.chunkBytes ?? file.chunkBytes;
  if (known !== undefined) return known;
  const likely = likelyChunkBytes(file);
  if (likely !== undefined || options.verify === false) return likely;
  throw new StorageError(
    'Unsupported',
    `The file was stored in ${chunkCountOf(file.etag)} chunks of a length that is not known here: tell chunkBytes, ` +
      'get it over HTTP, or do without verification.',
  );
}

/** Hashes the whole chunks that an earlier download has brought; where the next one begins. */
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
    throw new StorageError('PreconditionFailed', 'The file was replaced: get it from its start.');
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

function bodyOf(job: Job): ReadableStream<Uint8Array> {
  const { options, start, end, partBytes } = job;
  const concurrency = checkedConcurrency(options.concurrency);
  const controller = new AbortController();
  // Nobody waits for it then.
  controller.signal.addEventListener('abort', () => job.link?.remove(), { once: true });
  const stop = () => controller.abort(options.signal?.reason);
  if (options.signal?.aborted) stop();
  const settled = onAbort(options.signal, stop);
  const parts: Promise<Part>[] = [];
  let position = start;
  let doneBytes = start;
  const fill = () => {
    while (parts.length < concurrency && position < end) {
      const part = fetchPart(job, position, controller.signal);
      // It is awaited in its turn; until then its failure is not unhandled.
      part.catch(() => {});
      parts.push(part);
      position += partBytes;
    }
  };
  async function pull(sink: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    fill();
    const part = await parts.shift();
    if (part === undefined) {
      await job.link?.remove();
      await requireDigest(job);
      settled();
      sink.close();
      return;
    }
    if (part.digest !== undefined) job.digests?.push(part.digest);
    doneBytes += part.bytes.length;
    sink.enqueue(part.bytes);
    options.onProgress?.({ doneBytes, totalBytes: end, resumedBytes: start });
    fill();
  }
  return new ReadableStream<Uint8Array>(
    {
      pull: (sink) =>
        pull(sink).catch((error) => {
          settled();
          controller.abort(error);
          throw error;
        }),
      cancel: (reason) => {
        settled();
        controller.abort(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

async function fetchPart(job: Job, start: number, signal: AbortSignal): Promise<Part> {
  const { connection, name, file, link } = job;
  const end = Math.min(start + job.partBytes, job.end);
  const isChunk = job.options.range === undefined;
  const { etag, first, isAnonymous } = file;
  const part = { ...name, start, end, etag, isChunk, isAnonymous };
  const reader = link ? link.read : connection.transport.readPart;
  const bytes =
    start === 0 && first?.length === end
      ? first
      : await trying(connection, signal, () => reader(part, signal));
  return { bytes, digest: job.digests && (await sha256(bytes)) };
}

async function requireDigest({ digests, file }: Job): Promise<void> {
  if (digests === undefined) return;
  const actual = await etagOf(digests);
  if (actual === file.etag) return;
  throw new StorageError(
    'IntegrityError',
    `The bytes have the entity tag ${actual}, the file has ${file.etag}.`,
  );
}
