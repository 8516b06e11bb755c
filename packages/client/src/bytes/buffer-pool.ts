// A pool of buffers of megabytes. Platforms free such buffers late: without the pool, up to 100 MB
// pile up.

export interface BufferPool {
  /** Returns a buffer of at least `length` bytes, with arbitrary contents. */
  take(length: number): Uint8Array;
  /** Returns a buffer to the pool; the caller must not use it any more. */
  giveBack(buffer: Uint8Array): void;
}

const keptMax = 32;
/** Unused buffers are dropped after this time. */
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
      // In Node the timer would keep the process alive.
      if (typeof timer === 'object') timer.unref?.();
    },
  };
}
