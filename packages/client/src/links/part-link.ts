// A temporary link for the download of a private file: responses to a key are not certified,
// responses to a link are. It costs two updates, to make and to remove it, for any number of parts.
// Until the link is made, which takes seconds, parts are read with the key: the digest of the whole
// file verifies them, once one part has been read through the link. If a part is refused through
// the link, it is read with the key.

import type { Connection } from '../connection/connection.ts';
import { unlessAborted } from '../connection/parallel.ts';
import type { PartRequest } from '../operations/transfers.ts';
import { isStorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';
import type { NewLink } from '../types/links.ts';

/** A link that could not be removed expires. A longer download continues with the key. */
const lifeMs = 3_600_000;
/** Requests through the link for the first part read so: each may reach another node. */
const attemptsMax = 3;

interface LinkedPart extends PartRequest {
  /** Whether the part must wait for the link; false if the digest of the file verifies it. */
  readonly waitsForLink: boolean;
}

export interface PartLink {
  /** The first call also makes the link. */
  read(part: LinkedPart, signal: AbortSignal): Promise<Uint8Array>;
  /** Removes the link; ignores failures. */
  remove(): Promise<void>;
}

export function partLinkTo({ transport }: Connection, { bucket, path }: FileName): PartLink {
  let made: Promise<NewLink | undefined> | undefined;
  let removed: Promise<void> | undefined;
  let expiresAtMs = 0;
  /** Whether the link is made or has failed. */
  let isSettled = false;
  /** Whether a response to the link has confirmed the entity tag. */
  let isConfirmed = false;

  /** Takes no signal: an aborted request could leave a link that nobody removes. */
  async function make(): Promise<NewLink | undefined> {
    expiresAtMs = Date.now() + lifeMs;
    try {
      const link = { bucket, path, expiresAt: new Date(expiresAtMs), isTemporary: true };
      return await transport.createLink(link, undefined);
    } catch (error) {
      if (isStorageError(error)) return undefined;
      throw error;
    } finally {
      isSettled = true;
    }
  }

  async function readByLink(part: PartRequest, signal: AbortSignal): Promise<Uint8Array> {
    for (let attempt = 1; ; attempt++) {
      try {
        const bytes = await transport.readPart(part, signal);
        isConfirmed = true;
        return bytes;
      } catch (error) {
        if (!isNotServed(error)) throw error;
        if (isConfirmed || attempt === attemptsMax) {
          return transport.readPart({ ...part, linkPath: undefined }, signal);
        }
      }
    }
  }

  async function removeMade(): Promise<void> {
    const link = await made?.catch(() => undefined);
    if (link === undefined) return;
    await transport.removeLink({ bucket, id: link.id }, undefined).catch(() => {});
  }

  return {
    async read({ waitsForLink, ...part }, signal) {
      made ??= make();
      const making = made;
      if (!isSettled && !waitsForLink) return transport.readPart(part, signal);
      const link = await unlessAborted(signal, () => making);
      if (link === undefined || Date.now() >= expiresAtMs) return transport.readPart(part, signal);
      return readByLink({ ...part, linkPath: link.url }, signal);
    },
    remove() {
      removed ??= removeMade();
      return removed;
    },
  };
}

/**
 * The node does not know the link yet, the link has expired, or the file was replaced; gateways
 * report all three alike. Reading with the key returns the precise error.
 */
function isNotServed(error: unknown): boolean {
  return isStorageError(error) && [404, 500, 502, 503].includes(error.status ?? 0);
}
