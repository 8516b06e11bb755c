// The queue of messages of all canisters: one at a time, first in first out. A message is a
// synchronous task. Promises settle between any two messages, so that a request such as
// `stop_canister` can come between them as on the network; the event loop gets its turn too. The
// queue knows nothing of canisters.

const turnMilliseconds = 8;

export class Scheduler {
  readonly #tasks: (() => void)[] = [];
  readonly #idle: (() => void)[] = [];
  readonly #onFault: (error: unknown) => void;
  #isDraining = false;
  #pending = 0;

  /** `onFault` hears of an error in the replica itself; the queue goes on. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  push(task: () => void): void {
    this.#tasks.push(task);
    this.#start();
  }

  /** Before all that waits. */
  pushFirst(task: () => void): void {
    this.#tasks.unshift(task);
    this.#start();
  }

  #start(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    queueMicrotask(() => void this.#drain());
  }

  /** Work that goes on outside of the queue and will push to it: `idle` waits for it. */
  track(work: Promise<unknown>): void {
    this.#pending += 1;
    work.then(this.#settled, this.#settled);
  }

  /** A turn later: what waits for the same work pushes its message first. */
  readonly #settled = () => {
    setImmediate(() => {
      this.#pending -= 1;
      this.#notify();
    });
  };

  async #drain(): Promise<void> {
    let turnEnd = performance.now() + turnMilliseconds;
    for (let task = this.#tasks.shift(); task !== undefined; task = this.#tasks.shift()) {
      try {
        task();
      } catch (error) {
        this.#onFault(error);
      }
      await undefined;
      if (performance.now() < turnEnd) continue;
      await new Promise((resolve) => setImmediate(resolve));
      turnEnd = performance.now() + turnMilliseconds;
    }
    this.#isDraining = false;
    this.#notify();
  }

  #notify(): void {
    if (this.#isDraining || this.#pending > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void> {
    if (!this.#isDraining && this.#pending === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }
}
