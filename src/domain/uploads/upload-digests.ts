// The digests of a session's chunks, stored together in a few slots of the blob store: completion
// reads ten thousand of them at once, while that many look-ups would cost 2 G instructions. A slot,
// or page, has the digests of 2,048 chunks. Its first digest allocates it, for the declared number
// of chunks or, if that is unknown, for 32; then its size doubles as needed.

import { present } from '../../lib/assert.ts';
import type { Stores } from '../shared/stores.ts';
import type { DigestPage, UploadSession } from './upload-session.ts';

const digestBytes = 32;
/** The largest slot of the blob store holds this many. */
const digestsPerPage = 2_048;
const digestsMin = 32;
const noPage: DigestPage = { at: 0, bytes: 0 };

/** Frees the pages of a session that ends; returns the session without them. */
export function releaseDigests(stores: Stores, session: UploadSession): UploadSession {
  for (const page of session.digestPages) freePage(stores, page);
  return { ...session, digestPages: [] };
}

function freePage(stores: Stores, { at, bytes }: DigestPage): void {
  if (at !== 0) stores.blobs.free(Float64Array.of(at), [bytes]);
}

/** Stores the digest and returns the session's pages. */
export function writeDigest(
  stores: Stores,
  session: UploadSession,
  chunk: { readonly index: number; readonly digest: Uint8Array },
): readonly DigestPage[] {
  const number = Math.floor(chunk.index / digestsPerPage);
  const place = chunk.index % digestsPerPage;
  const old = session.digestPages[number] ?? noPage;
  const isRoomy = old.bytes >= (place + 1) * digestBytes;
  const page = isRoomy ? old : grownPage(stores, old, pageBytes(session, number, place));
  stores.blobs.write(page.at + place * digestBytes, chunk.digest);
  if (isRoomy) return session.digestPages;
  const pages = [...session.digestPages];
  while (pages.length < number) pages.push(noPage);
  pages[number] = page;
  return pages;
}

/** Returns the length of a page that has space for the digest at that place. */
function pageBytes(session: UploadSession, number: number, place: number): number {
  const { isSizeKnown, totalSize, declaredChunkSize } = session;
  if (isSizeKnown && declaredChunkSize > 0) {
    const chunks = Math.ceil(totalSize / declaredChunkSize) - number * digestsPerPage;
    return Math.min(chunks, digestsPerPage) * digestBytes;
  }
  return Math.max(digestsMin, 2 ** (32 - Math.clz32(place))) * digestBytes;
}

/** Copies the page to a larger slot. */
function grownPage(stores: Stores, old: DigestPage, bytes: number): DigestPage {
  const at = present(stores.blobs.allocate([bytes])[0], 'slot of digests');
  if (old.at !== 0) {
    const digests = new Uint8Array(old.bytes);
    stores.blobs.read(old.at, digests);
    stores.blobs.write(at, digests);
    freePage(stores, old);
  }
  return { at, bytes };
}

/** Returns the digests of the chunks `[0, chunkIndexEnd)` in order; all of them must exist. */
export function readDigests(stores: Stores, session: UploadSession): Uint8Array {
  const digests = new Uint8Array(session.chunkIndexEnd * digestBytes);
  session.digestPages.forEach(({ at }, number) => {
    const start = number * digestsPerPage * digestBytes;
    stores.blobs.read(at, digests.subarray(start, start + digestsPerPage * digestBytes));
  });
  return digests;
}
