// Chunks in transfer to and from the service. Their number is limited for all requests together,
// because each has several megabytes. Buffers of request bodies are reused.

import { setTimeout as wait } from 'node:timers/promises';
import type { BufferPool } from '../../client/src/bytes/buffer-pool.ts';
import { iteratorOf, type Pieces } from '../../client/src/bytes/byte-stream.ts';
import type { UploadSource } from '../../client/src/bytes/upload-source.ts';
import type { Body } from './body/open-body.ts';
import type { Semaphore } from './semaphore.ts';

/** Maximum bytes of a slice; whole segments of an age file, so that all buffers have one length. */
const sliceBytes = 30 * 65_536;

/** The limits on memory that all requests of a server share. */
export interface MemoryBudget {
  readonly buffers: BufferPool;
  /** Has one entry for each chunk that is read from a client and sent. */
  readonly sending: Semaphore;
  /** Has one entry for each chunk that is received from the service. */
  readonly receiving: Semaphore;
}

/** A client that takes longer to send a chunk lets others go first. */
const promptMsMax = 2_000;

/** The total length, and the bytes as they arrive. */
type Bytes = Pick<Body, 'length' | 'stream'>;

export interface ChunkSource extends UploadSource {
  /** Frees the memory of chunks that were not sent. */
  close(): void;
}

/** Slices must be requested in order, one at a time. If the body fails, so does the last slice. */
export function chunkSource(body: Bytes, memory: MemoryBudget, signal: AbortSignal): ChunkSource {
  const { length: size, stream } = body;
  const { buffers, sending } = memory;
  const pieces = stream[Symbol.asyncIterator]();
  const places: (() => void)[] = [];
  let isClosed = false;
  let rest: Uint8Array = new Uint8Array(0);
  const buffer = (length: number) => buffers.take(Math.max(sliceBytes, length)).subarray(0, length);
  async function enter(): Promise<void> {
    const leave = await sending.enter(signal);
    if (isClosed) leave();
    else places.push(leave);
  }
  async function fill(bytes: Uint8Array): Promise<void> {
    for (let filled = 0; filled < bytes.length; ) {
      if (rest.length === 0) rest = await nextPiece();
      const part = rest.subarray(0, bytes.length - filled);
      bytes.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
    }
  }
  async function nextPiece(): Promise<Uint8Array> {
    const { done, value } = await pieces.next();
    if (done) throw new Error('The body ended before its length.');
    return value;
  }
  return {
    size,
    async slice(start, end) {
      await enter();
      const bytes = buffer(end - start);
      const filling = fill(bytes);
      if (!(await endsWithin(filling, promptMsMax))) {
        places.pop()?.();
        await filling;
        await enter();
      }
      // A body with wrong bytes fails at its end, which is therefore read before the last chunk is
      // sent.
      if (end >= size) await pieces.next();
      return bytes;
    },
    buffer,
    release(bytes) {
      buffers.giveBack(new Uint8Array(bytes.buffer));
    },
    sent() {
      places.pop()?.();
    },
    close() {
      isClosed = true;
      for (const leave of places.splice(0)) leave();
    },
  };
}

/** Returns whether the work ends within the time; rejects if the work has failed. */
async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  const late = new AbortController();
  // A failure after the race is ignored here: whoever awaits the work receives it.
  const time = wait(ms, false, { ref: false, signal: late.signal }).catch(() => false);
  try {
    return await Promise.race([work.then(() => true), time]);
  } finally {
    late.abort();
  }
}

/** Waits for memory before each chunk of the service. */
export function received(pieces: Pieces, { receiving }: MemoryBudget, signal: AbortSignal): Pieces {
  return iteratorOf(
    async () => {
      const leave = await receiving.enter(signal);
      return pieces.next().finally(leave);
    },
    async () => pieces.return?.(),
  );
}
