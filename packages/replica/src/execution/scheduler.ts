// The message queue of all canisters: one message at a time, first in first out. A message is a
// synchronous task. Between two messages, promises settle and the event loop gets its turn, so that
// requests such as `stop_canister` run there, as on the network.

const turnMilliseconds = 8;

export class Scheduler {
  readonly #tasks: (() => void)[] = [];
  readonly #idle: (() => void)[] = [];
  readonly #onFault: (error: unknown) => void;
  #isDraining = false;
  #pending = 0;

  /** `onFault` is called for an error in the replica itself; the queue continues. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  push(task: () => void): void {
    this.#tasks.push(task);
    this.#start();
  }

  /** Puts a task before all waiting ones. */
  pushFirst(task: () => void): void {
    this.#tasks.unshift(task);
    this.#start();
  }

  #start(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    queueMicrotask(() => void this.#drain());
  }

  /** Tracks outside work that will push tasks: `idle` waits for it. */
  track(work: Promise<unknown>): void {
    this.#pending += 1;
    work.then(this.#settled, this.#settled);
  }

  /** Runs one turn later, so that code waiting for the same work pushes its message first. */
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
    if (!this.isIdle()) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Returns whether no task waits or runs. */
  isIdle(): boolean {
    return !this.#isDraining && this.#pending === 0;
  }

  idle(): Promise<void> {
    if (this.isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }
}
