// Buffers of megabytes that are used again: what the platform frees late adds up to a hundred MB.

export interface BufferPool {
  /** At least so long, with any bytes in it. */
  take(length: number): Uint8Array;
  /** Only when nobody reads it any more. */
  giveBack(buffer: Uint8Array): void;
}

const keptMax = 32;

export function createBufferPool(): BufferPool {
  const free: Uint8Array[] = [];
  return {
    take(length) {
      const at = free.findIndex((buffer) => buffer.length >= length);
      const [buffer] = at < 0 ? [] : free.splice(at, 1);
      return buffer ?? new Uint8Array(length);
    },
    giveBack(buffer) {
      if (free.length < keptMax) free.push(buffer);
    },
  };
}
