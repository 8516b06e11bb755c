// Bytes that come in pieces.

import { concatBytes } from './bytes.ts';

/** In one array; a single piece is given as it is. */
export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : concatBytes(...pieces);
}

/** Of them one is held by whoever asked for it, and none by the iterator. */
export type Pieces = AsyncIterableIterator<Uint8Array>;

/**
 * Not every browser's ReadableStream can be iterated. One that is left early is cancelled. No
 * generator: that would hold a piece, of megabytes, until the next one has come.
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

/** Pieces that `next` gives; `stop` is called when not all of them are wanted. */
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
 * What is made of each piece, and at the end, in turns; a piece is not held when all that is made
 * of it is given.
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

/** One for each piece, but those of no bytes. */
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
        // What the source itself has ended by is known.
        await stop().catch(() => {});
        throw error;
      }),
    stop,
  );
}
