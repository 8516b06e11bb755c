// Bytes that come in pieces.

import { concatBytes } from './bytes.ts';

/** In one array; a single piece is given as it is. */
export function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : concatBytes(...pieces);
}

/** Not every browser's ReadableStream can be iterated. One that is left early is cancelled. */
export async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
