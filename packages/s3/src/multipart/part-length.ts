// The length of an upload's parts: that of part 1, or of any two parts of equal length, since only
// the last part may differ. If clients send several parts at a time, another part can arrive before
// part 1: it waits a moment until the length is known. A single copied part does not settle the
// length, because clients that change a range of an object copy the ranges before and behind it.

const waitMsMax = 300;

export interface SizedPart {
  readonly number: number;
  /** In bytes. */
  readonly size: number;
  /** The part is a copy of another object's bytes. */
  readonly isCopied: boolean;
}

export class PartLength {
  readonly #sizes = new Map<number, number>();
  #first: number | undefined;
  readonly #waiting = new Set<() => void>();

  /** Those that had no session when they were stored tell nothing alone. */
  constructor(stored: Iterable<Omit<SizedPart, 'isCopied'>>) {
    for (const { number, size } of stored) this.note({ number, size, isCopied: true });
  }

  /** Records that a part has arrived; one that is sent again counts once. */
  note({ number, size, isCopied }: SizedPart): void {
    this.#sizes.set(number, size);
    if (number === 1 && !isCopied) this.#first = size;
    for (const wake of [...this.#waiting]) wake();
  }

  /** In bytes; undefined where the parts that came within a moment do not tell. */
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
   * Whether all parts before that one have this length, so that its place is known. Those that are
   * sent at the same time may come a moment later; a part that is left out never comes.
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

  /** Bytes of all parts that have come. */
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
