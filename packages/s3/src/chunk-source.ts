// Chunks on their way to the service and from it: of all requests together so many at a time, since
// each is some megabytes. Those of bodies are in buffers that are used again.

import type { BufferPool } from '../../client/src/buffer-pool.ts';
import type { UploadSource } from '../../client/src/upload-source.ts';
import type { Body } from './body/open-body.ts';
import type { Gate } from './gate.ts';

/** Of the longest slices, which are whole pieces of an age file: buffers of one length fit all. */
const sliceBytes = 30 * 65_536;

/** What all requests of a door share. */
export interface ChunkRoom {
  readonly buffers: BufferPool;
  /** One is inside for each chunk that is being read of a client and sent. */
  readonly sending: Gate;
  /** One is inside for each chunk that is being received of the service. */
  readonly receiving: Gate;
}

/** How many there are, and they as they come. */
type Bytes = Pick<Body, 'length' | 'stream'>;

export interface ChunkSource extends UploadSource {
  /** Gives up the places of chunks that were not sent. */
  close(): void;
}

/** Slices are asked for in their order, one at a time. Fails as the body does, before its end. */
export function chunkSource(body: Bytes, room: ChunkRoom, signal: AbortSignal): ChunkSource {
  const { length: size, stream } = body;
  const pieces = stream[Symbol.asyncIterator]();
  const places = new Map<Uint8Array, () => void>();
  let rest: Uint8Array = new Uint8Array(0);
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
      const leave = await room.sending.enter(signal);
      const bytes = room.buffers.take(Math.max(sliceBytes, end - start)).subarray(0, end - start);
      places.set(bytes, leave);
      await fill(bytes);
      // A body that is not what was meant says so at its end: before the last chunk is sent.
      if (end >= size) await pieces.next();
      return bytes;
    },
    release(bytes) {
      places.get(bytes)?.();
      places.delete(bytes);
      room.buffers.giveBack(new Uint8Array(bytes.buffer));
    },
    close() {
      for (const leave of places.values()) leave();
      places.clear();
    },
  };
}

/** What comes of the service, when there is room for it. */
export async function* received(
  stream: AsyncIterable<Uint8Array>,
  { receiving }: ChunkRoom,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const pieces = stream[Symbol.asyncIterator]();
  try {
    for (;;) {
      const leave = await receiving.enter(signal);
      const { done, value } = await pieces.next().finally(leave);
      if (done) return;
      yield value;
    }
  } finally {
    await pieces.return?.();
  }
}
