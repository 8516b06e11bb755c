// Admits requests within limits by kind: requests that transfer long bodies, reads of objects that
// may turn out to be small, and all others.

import type { Route } from './operation.ts';
import { SpareChunks } from './semaphore.ts';
import { type Place, Workers } from './workers.ts';

/** Limits of requests that transfer bytes of objects. */
const transferLimits = {
  workingMax: 16,
  ofEachKey: { workingMax: 12, openMax: 16, waitingMax: 240 },
  ofUnsigned: { workingMax: 4, openMax: 8, waitingMax: 60 },
};
/**
 * Limits of reads of objects, each of which holds at most the bytes of a small object; for a longer
 * one it also needs a place as a transfer.
 */
const readLimits = {
  workingMax: 256,
  ofEachKey: { workingMax: 128, openMax: 128, waitingMax: 240 },
  ofUnsigned: { workingMax: 32, openMax: 32, waitingMax: 60 },
};
/** Limits of all other requests. */
const otherLimits = {
  workingMax: 32,
  ofEachKey: { workingMax: 24, openMax: 32, waitingMax: 240 },
  ofUnsigned: { workingMax: 8, openMax: 16, waitingMax: 60 },
};
/** Maximum number of chunks in memory besides one per transfer. */
const spareChunkCount = 3;

interface Entering {
  readonly route: Route;
  /** Undefined for an unsigned request. */
  readonly accessKeyId: string | undefined;
  readonly signal: AbortSignal;
}

/** The places that one request occupies. */
export interface Admission {
  /** The place to yield during waits for the client. */
  readonly place: () => Place;
  /**
   * Waits for a place as a transfer, if the request has none; returns the maximum number of its
   * concurrent chunks.
   */
  readonly enterTransfers: () => Promise<number>;
  readonly leave: () => void;
}

export class AdmissionLimits {
  readonly #transfers = new Workers(transferLimits);
  readonly #reads = new Workers(readLimits);
  readonly #others = new Workers(otherLimits);
  readonly #spareChunks = new SpareChunks(spareChunkCount);

  /** Throws SlowDown if too many requests wait. */
  async enter({ route, accessKeyId, signal }: Entering): Promise<Admission> {
    let transfer: Transfer | undefined;
    const enterTransfers = async () => {
      transfer ??= await this.#enterTransfers(accessKeyId, signal);
      return transfer.concurrency;
    };
    const { movesBytes } = route;
    const workers = movesBytes === 'if long' ? this.#reads : this.#others;
    const own = movesBytes === true ? undefined : await workers.enter(accessKeyId, signal);
    if (own === undefined) await enterTransfers();
    const place = () => transfer?.place ?? own;
    return {
      place: () => place() as Place,
      enterTransfers,
      leave() {
        transfer?.leave();
        own?.leave();
      },
    };
  }

  async #enterTransfers(accessKeyId: string | undefined, signal: AbortSignal): Promise<Transfer> {
    const place = await this.#transfers.enter(accessKeyId, signal);
    const share = accessKeyId === undefined ? undefined : this.#spareChunks.take();
    return {
      place,
      concurrency: share?.count ?? 1,
      leave() {
        share?.giveBack();
        place.leave();
      },
    };
  }
}

interface Transfer {
  readonly place: Place;
  readonly concurrency: number;
  readonly leave: () => void;
}
