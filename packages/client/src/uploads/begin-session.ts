// Begins upload sessions, with chunks that the line can send in time, and measures the line first.

import { chunkBytesMax, chunkBytesMin, chunkCountMax } from '../../../wire/src/limits.ts';
import { sizeOf, type UploadInput } from '../bytes/upload-source.ts';
import { type Connection, trying } from '../connection/connection.ts';
import { isEarlierService } from '../connection/earlier-service.ts';
import { unlessAborted } from '../connection/parallel.ts';
import { unmeasuredBytesMax } from '../connection/transfer-window.ts';
import type { Signal } from '../connection/transport.ts';
import type { FileMetadata } from '../operations/uploads.ts';
import { StorageError } from '../storage-error.ts';
import type { UploadOptions, UploadSession } from '../types/transfers.ts';

/**
 * Returns the maximum length, up to `max`, of a request that is sent in time. Measures the line
 * unless its rate is known.
 */
export async function requestBytes(connection: Connection, max: number): Promise<number> {
  await measureFor(connection, max, undefined);
  return connection.transport.line.up.requestBytes(max);
}

/** Measures the line unless its rate is known or `size` is small. An abort ends the wait. */
export async function measureFor(
  { transport }: Connection,
  size: number | undefined,
  signal: Signal,
): Promise<void> {
  if (size !== undefined && size <= unmeasuredBytesMax) return;
  const isLong = size === undefined || size > chunkBytesMax;
  const measure = () => transport.line.up.measure(transport.probe, isLong);
  await (signal === undefined ? measure() : unlessAborted(signal, measure));
}

/** Begins the measurement that an upload will wait for; a failure is ignored. */
export function measureBefore(
  connection: Connection,
  input: UploadInput,
  { chunkBytes, size = sizeOf(input), signal }: UploadOptions,
): void {
  if (chunkBytes === undefined && size !== undefined) void measureFor(connection, size, signal);
}

interface Beginning {
  readonly metadata: FileMetadata;
  readonly size: number | undefined;
  readonly chunkBytes: number | undefined;
  readonly signal: Signal;
}

/**
 * Begins a session whose chunks the line can send in time. A line of unknown rate is measured
 * first, by two to four queries, because a session's chunk length is fixed and replacing a session
 * costs an update.
 */
export async function beginSession(
  connection: Connection,
  beginning: Beginning,
): Promise<UploadSession> {
  const { up } = connection.transport.line;
  const { chunkBytes, size, signal } = beginning;
  if (chunkBytes !== undefined) return beginWith(connection, { ...beginning, chunkBytes });
  await measureFor(connection, size, signal);
  const startMs = performance.now();
  const lineBytes = up.chunkBytes(size, chunkCountMax);
  const session = await beginWith(connection, { ...beginning, chunkBytes: lineBytes });
  up.noteLatency(performance.now() - startMs);
  return session;
}

/** All attempts share one token, so that a lost response leaves no second session. */
async function beginWith(
  connection: Connection,
  { metadata, size, chunkBytes, signal }: Beginning & { readonly chunkBytes: number },
): Promise<UploadSession> {
  if (!(chunkBytes >= chunkBytesMin && chunkBytes <= chunkBytesMax)) {
    throw new StorageError(
      'InvalidArgument',
      `chunkBytes must be ${chunkBytesMin} to ${chunkBytesMax}; got ${chunkBytes}.`,
    );
  }
  const token = newToken();
  const request = { ...metadata, size, chunkBytes, token };
  try {
    return await trying(connection, signal, () =>
      connection.transport.startUpload(request, signal),
    );
  } catch (error) {
    if (size !== undefined || !(await isEarlierService(connection, error, signal))) throw error;
    const sentence = "The stream's size is missing: give it, or upgrade the service.";
    throw new StorageError('Unsupported', sentence);
  }
}

/** Distinguishes the caller's sessions. It is not secret, and React Native has no Web Crypto. */
export function newToken(): string {
  const digits = () => Math.random().toString(36).slice(2);
  return `${digits()}-${digits()}`;
}
