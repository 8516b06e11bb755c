// Limits the number of concurrent requests and the memory of each.

import { S3Error } from './s3-error.ts';

interface Waiting {
  readonly enter: () => void;
}

/** Admits a number of requests; others wait in order, up to a limit. */
export class Semaphore {
  readonly #insideMax: number;
  readonly #waitingMax: number;
  #inside = 0;
  readonly #queue = new Set<Waiting>();

  constructor(insideMax: number, waitingMax: number) {
    this.#insideMax = insideMax;
    this.#waitingMax = waitingMax;
  }

  /** Resolves to the function that leaves. Throws SlowDown; rejects when the signal is aborted. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#inside < this.#insideMax) this.#inside += 1;
    else await this.#wait(signal);
    let isOut = false;
    return () => {
      if (isOut) return;
      isOut = true;
      this.#leave();
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#queue.size >= this.#waitingMax) {
      throw new S3Error('SlowDown', 'Too many concurrent requests: try again.');
    }
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        enter: () => {
          signal.removeEventListener('abort', stop);
          resolve();
        },
      };
      const stop = () => {
        this.#queue.delete(waiting);
        reject(signal.reason);
      };
      this.#queue.add(waiting);
      signal.addEventListener('abort', stop, { once: true });
    });
  }

  #leave(): void {
    const [next] = this.#queue;
    if (next === undefined) {
      this.#inside -= 1;
      return;
    }
    this.#queue.delete(next);
    next.enter();
  }
}

/** Gives each transfer one chunk in memory, and all spare ones to the first that asks. */
export class SpareChunks {
  #spare: number;

  constructor(spare: number) {
    this.#spare = spare;
  }

  take(): { readonly count: number; readonly giveBack: () => void } {
    const extra = this.#spare;
    this.#spare = 0;
    return {
      count: 1 + extra,
      giveBack: () => {
        this.#spare += extra;
      },
    };
  }
}
