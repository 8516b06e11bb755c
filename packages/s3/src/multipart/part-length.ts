// The length of an upload's parts: that of part 1, or of any two parts of equal length, because
// only the last part may differ. If clients send several parts at a time, another part can arrive
// before part 1; it waits a moment for the length. A single copied part does not determine the
// length, because clients that change a range of an object copy the ranges before and after it.

const waitMsMax = 300;

export interface SizedPart {
  readonly number: number;
  /** In bytes. */
  readonly size: number;
  /** Whether the part is a copy of another object's bytes. */
  readonly isCopied: boolean;
}

export class PartLength {
  readonly #sizes = new Map<number, number>();
  #first: number | undefined;
  readonly #waiting = new Set<() => void>();

  /** Treats the parts from the log as copied, because the log does not record which parts were. */
  constructor(stored: Iterable<Omit<SizedPart, 'isCopied'>>) {
    for (const { number, size } of stored) this.note({ number, size, isCopied: true });
  }

  /** Records that a part has arrived; a repeated part counts once. */
  note({ number, size, isCopied }: SizedPart): void {
    this.#sizes.set(number, size);
    if (number === 1 && !isCopied) this.#first = size;
    for (const wake of [...this.#waiting]) wake();
  }

  /** Returns the length in bytes; undefined if no part arrives in time that determines it. */
  async settled(signal: AbortSignal): Promise<number | undefined> {
    const endMs = performance.now() + waitMsMax;
    for (;;) {
      const settled = this.#settled();
      const leftMs = endMs - performance.now();
      if (settled !== undefined || leftMs <= 0) return settled;
      await this.#change(leftMs, signal);
      signal.throwIfAborted();
    }
  }

  /**
   * Returns whether all parts before this one have this length, so that its place is known. Parts
   * sent at the same time may arrive a moment later; an omitted part never arrives.
   */
  async isAllBefore(number: number, size: number, signal: AbortSignal): Promise<boolean> {
    const endMs = performance.now() + waitMsMax;
    for (;;) {
      const before = Array.from({ length: number - 1 }, (_, index) => this.#sizes.get(index + 1));
      if (before.every((known) => known === size)) return true;
      const leftMs = endMs - performance.now();
      if (leftMs <= 0 || before.some((known) => known !== undefined && known !== size))
        return false;
      await this.#change(leftMs, signal);
      signal.throwIfAborted();
    }
  }

  /** Bytes of all parts that have arrived. */
  get total(): number {
    let total = 0;
    for (const size of this.#sizes.values()) total += size;
    return total;
  }

  #settled(): number | undefined {
    if (this.#first !== undefined) return this.#first;
    const sizes = [...this.#sizes.values()];
    return sizes.find((size, index) => sizes.indexOf(size) < index);
  }

  #change(msMax: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, msMax);
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}
