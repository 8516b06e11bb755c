// The link that a download of a private file makes for itself: what a key opens is one node's word,
// what a link opens is certified. Two updates, to make it and to remove it, however many parts are
// read. Whatever a link is refused for, the key reads as well.

import type { Connection } from '../connection/connection.ts';
import { unlessAborted } from '../connection/parallel.ts';
import type { PartRequest } from '../connection/transport.ts';
import { isStorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';
import type { NewLink } from '../types/links.ts';

/** One that could not be removed ends by itself. A longer download goes on with the key. */
const lifeMs = 3_600_000;

export interface PartLink {
  /** One attempt; the first makes the link. */
  read(part: PartRequest, signal: AbortSignal): Promise<Uint8Array>;
  /** As well as it can be removed. */
  remove(): Promise<void>;
}

export function partLinkTo({ transport }: Connection, { bucket, path }: FileName): PartLink {
  let made: Promise<NewLink | undefined> | undefined;
  let removed: Promise<void> | undefined;
  let expiresAtMs = 0;

  /** By no signal: what was made must be known to be removed. */
  async function make(): Promise<NewLink | undefined> {
    expiresAtMs = Date.now() + lifeMs;
    try {
      return await transport.createLink({ bucket, path, expiresAt: new Date(expiresAtMs) });
    } catch (error) {
      if (isStorageError(error)) return undefined;
      throw error;
    }
  }

  async function removeMade(): Promise<void> {
    const link = await made?.catch(() => undefined);
    if (link === undefined) return;
    await transport.removeLink(bucket, link.id, undefined).catch(() => {});
  }

  return {
    async read(part, signal) {
      made ??= make();
      const making = made;
      const link = await unlessAborted(signal, () => making);
      if (link === undefined || Date.now() >= expiresAtMs) return transport.readPart(part, signal);
      try {
        return await transport.readPart({ ...part, linkPath: link.url }, signal);
      } catch (error) {
        if (!isNotServed(error)) throw error;
        return transport.readPart(part, signal);
      }
    },
    remove() {
      removed ??= removeMade();
      return removed;
    },
  };
}

/**
 * By a node that does not know of the link yet, or when it has ended: a gateway has words of its
 * own for what it cannot verify. So has it where the file was replaced, which the key is told.
 */
function isNotServed(error: unknown): boolean {
  return isStorageError(error) && [404, 500, 502, 503].includes(error.status ?? 0);
}
