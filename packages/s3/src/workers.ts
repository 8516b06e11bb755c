// Limits concurrent requests: in total, for each access key, and for all requests without a
// signature together. A request that waits for its client yields its place, so a client that does
// not read or send does not delay others.

import { S3Error } from './s3-error.ts';

/** The limits for one access key, or for all unsigned requests together. */
export interface Share {
  /** Running requests. */
  readonly workingMax: number;
  /** Admitted requests that have not ended; some wait for their clients. */
  readonly openMax: number;
  /** Requests that wait for admission. */
  readonly waitingMax: number;
}

export interface WorkersOptions {
  readonly workingMax: number;
  readonly ofEachKey: Share;
  readonly ofUnsigned: Share;
}

/** The place of one running request. */
export interface Place {
  /** Yields the place to others during the wait for the client; rejects as `wait` does. */
  waitOutside<T>(wait: Promise<T>): Promise<T>;
  /** Can be called repeatedly. */
  leave(): void;
}

type Queue = Set<() => void>;

interface Group {
  readonly share: Share;
  working: number;
  open: number;
  readonly entering: Queue;
  /** Requests whose clients have responded: they precede new ones. */
  readonly returning: Queue;
}

export class Workers {
  readonly #options: WorkersOptions;
  #working = 0;
  readonly #groups = new Map<string | undefined, Group>();

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  /** Throws SlowDown if too many wait. `accessKeyId` is undefined without a signature. */
  async enter(accessKeyId: string | undefined, signal: AbortSignal): Promise<Place> {
    signal.throwIfAborted();
    const group = this.#groupOf(accessKeyId);
    if (group.entering.size >= group.share.waitingMax) {
      throw new S3Error('SlowDown', 'Too many requests are waiting: try again later.');
    }
    await this.#takeTurn(group, group.entering, signal);
    group.open += 1;
    return this.#placeIn(group, signal);
  }

  #groupOf(accessKeyId: string | undefined): Group {
    const known = this.#groups.get(accessKeyId);
    if (known !== undefined) return known;
    const { ofEachKey, ofUnsigned } = this.#options;
    const share = accessKeyId === undefined ? ofUnsigned : ofEachKey;
    const group = {
      share,
      working: 0,
      open: 0,
      entering: new Set(),
      returning: new Set(),
    } as Group;
    this.#groups.set(accessKeyId, group);
    return group;
  }

  #placeIn(group: Group, signal: AbortSignal): Place {
    let isWorking = true;
    let isOver = false;
    const stop = () => {
      if (!isWorking) return;
      isWorking = false;
      group.working -= 1;
      this.#working -= 1;
    };
    return {
      waitOutside: async (wait) => {
        stop();
        this.#admit();
        const done = await wait;
        await this.#takeTurn(group, group.returning, signal);
        isWorking = true;
        // The request ended during the wait, so nobody else would give the place back.
        if (isOver) {
          stop();
          this.#admit();
          throw new Error('The request has ended.');
        }
        return done;
      },
      leave: () => {
        if (isOver) return;
        isOver = true;
        stop();
        group.open -= 1;
        this.#admit();
      },
    };
  }

  #takeTurn(group: Group, queue: Queue, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', stop);
        queue.delete(start);
        group.working += 1;
        this.#working += 1;
        resolve();
      };
      const stop = () => {
        queue.delete(start);
        reject(signal.reason);
      };
      if (signal.aborted) {
        stop();
        return;
      }
      queue.add(start);
      signal.addEventListener('abort', stop, { once: true });
      this.#admit();
    });
  }

  #admit(): void {
    while (this.#working < this.#options.workingMax) {
      const next = this.#next();
      if (next === undefined) return;
      next();
    }
  }

  /** Returns a waiting request of the group that may run one more and runs the fewest. */
  #next(): (() => void) | undefined {
    let fewest: Group | undefined;
    for (const group of this.#groups.values()) {
      const isFewer = fewest === undefined || group.working < fewest.working;
      if (isFewer && group.working < group.share.workingMax && waitingIn(group)) fewest = group;
    }
    return fewest && waitingIn(fewest);
  }
}

function waitingIn({ returning, entering, open, share }: Group): (() => void) | undefined {
  const [first] = returning.size > 0 || open >= share.openMax ? returning : entering;
  return first;
}
