// The digests of a session's chunks, side by side in one slot of the blob store: completion reads a
// thousand of them at once, where a thousand look-ups would cost 200 M instructions.

import { present } from '../../lib/assert.ts';
import { chunkCountMax } from '../../limits.ts';
import type { Stores } from '../shared/stores.ts';
import type { UploadSession } from './upload-session.ts';

const digestBytes = 32;

/** Bytes of the slot; 0 for a session that takes no chunk. */
export function digestTableBytes(session: {
  readonly totalSize: number;
  readonly declaredChunkSize: number;
}): number {
  const { totalSize, declaredChunkSize } = session;
  const count = declaredChunkSize > 0 ? Math.ceil(totalSize / declaredChunkSize) : chunkCountMax;
  return totalSize > 0 ? count * digestBytes : 0;
}

/** Where the slot is; 0 for none. */
export function allocateDigests(stores: Stores, bytes: number): number {
  return bytes === 0 ? 0 : present(stores.blobs.allocate([bytes])[0], 'slot of digests');
}

/** The session without its slot, for one that ends. */
export function releaseDigests(stores: Stores, session: UploadSession): UploadSession {
  if (session.digestsAt !== 0) {
    stores.blobs.free(Float64Array.of(session.digestsAt), [digestTableBytes(session)]);
  }
  return { ...session, digestsAt: 0 };
}

export function writeDigest(
  stores: Stores,
  session: UploadSession,
  chunk: { readonly index: number; readonly digest: Uint8Array },
): void {
  stores.blobs.write(session.digestsAt + chunk.index * digestBytes, chunk.digest);
}

/** Of chunks `[0, chunkIndexEnd)`, all of which are there, one after another. */
export function readDigests(stores: Stores, session: UploadSession): Uint8Array {
  const digests = new Uint8Array(session.chunkIndexEnd * digestBytes);
  if (digests.length > 0) {
    stores.blobs.read(session.digestsAt, digests);
  }
  return digests;
}
