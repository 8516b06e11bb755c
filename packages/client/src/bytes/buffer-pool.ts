// Buffers of megabytes that are used again: what the platform frees late adds up to a hundred MB.

export interface BufferPool {
  /** At least so long, with any bytes in it. */
  take(length: number): Uint8Array;
  /** Only when nobody reads it any more. */
  giveBack(buffer: Uint8Array): void;
}

const keptMax = 32;
/** Those that nobody has wanted for so long are given up. */
const keptMs = 1_000;

export function createBufferPool(): BufferPool {
  let free: Uint8Array[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    take(length) {
      const at = free.findIndex((buffer) => buffer.length >= length);
      const [buffer] = at < 0 ? [] : free.splice(at, 1);
      return buffer ?? new Uint8Array(length);
    },
    giveBack(buffer) {
      if (free.length < keptMax) free.push(buffer);
      clearTimeout(timer);
      timer = setTimeout(() => {
        free = [];
      }, keptMs);
      // Node alone would wait for it at its end.
      if (typeof timer === 'object') timer.unref?.();
    },
  };
}
