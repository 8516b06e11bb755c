// Streams of bytes as iterators that keep no reference to the bytes they have returned.

import { concatBytes } from './bytes.ts';

/** Joins the pieces into one array; a single piece is returned without a copy. */
export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : concatBytes(...pieces);
}

/** An iterator of byte arrays that keeps no reference to an array it has returned. */
export type Pieces = AsyncIterableIterator<Uint8Array>;

/**
 * Iterates over a stream, since not every browser's ReadableStream is iterable. Leaving the loop
 * early cancels the stream. This is not a generator, because a generator would hold a chunk of
 * megabytes until the next one arrives.
 */
export function piecesOf(stream: ReadableStream<Uint8Array>): Pieces {
  const reader = stream.getReader();
  return iteratorOf(
    async () => {
      const { done, value } = await reader.read();
      return done ? { done, value: undefined } : { done, value };
    },
    () => reader.cancel(),
  );
}

/** Returns an iterator that calls `next`, and `stop` if the loop ends early. */
export function iteratorOf(
  next: () => Promise<IteratorResult<Uint8Array>>,
  stop: () => Promise<unknown>,
): Pieces {
  const pieces: Pieces = {
    next,
    async return() {
      await stop();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => pieces,
  };
  return pieces;
}

/**
 * Yields the results of `make` for each piece, then those of `atEnd`. A piece is released when its
 * last result has been yielded.
 */
export function madeOf(
  source: AsyncIterable<Uint8Array>,
  make: (piece: Uint8Array) => Iterator<Uint8Array>,
  atEnd: () => Iterator<Uint8Array>,
): Pieces {
  const from = source[Symbol.asyncIterator]();
  let made: Iterator<Uint8Array> | undefined;
  let isOver = false;
  const take = ({ done, value }: IteratorResult<Uint8Array>) => {
    isOver = done === true;
    made = done ? atEnd() : make(value);
  };
  return stoppingAtFailure(from, async () => {
    for (;;) {
      const one = made?.next();
      if (one?.done === false) return one;
      made = undefined;
      if (isOver) return { done: true, value: undefined };
      await from.next().then(take);
    }
  });
}

/** Yields `change(piece)` for each piece, except empty results. */
export function mapped(
  source: AsyncIterable<Uint8Array>,
  change: (piece: Uint8Array) => Uint8Array,
): Pieces {
  const from = source[Symbol.asyncIterator]();
  const take = (one: IteratorResult<Uint8Array>): IteratorResult<Uint8Array> =>
    one.done ? one : { done: false, value: change(one.value) };
  return stoppingAtFailure(from, async () => {
    for (;;) {
      const one = await from.next().then(take);
      if (one.done || one.value.length > 0) return one;
    }
  });
}

function stoppingAtFailure(
  source: AsyncIterator<Uint8Array>,
  next: () => Promise<IteratorResult<Uint8Array>>,
): Pieces {
  const stop = async () => source.return?.();
  return iteratorOf(
    () =>
      next().catch(async (error) => {
        // `error` is the source's own failure; a second one adds nothing.
        await stop().catch(() => {});
        throw error;
      }),
    stop,
  );
}
