// A list that is read while it grows.

export class GrowingList<T> {
  readonly #items: T[] = [];
  #isEnded = false;
  #error: unknown;
  #wake = () => {};

  /** Yields the items of the source, and keeps them; ends with its end or its error. */
  async *filledBy(source: AsyncIterable<T>): AsyncGenerator<T> {
    try {
      for await (const item of source) {
        this.#items.push(item);
        this.#wake();
        yield item;
      }
    } catch (error) {
      this.#error = error;
      throw error;
    } finally {
      this.#isEnded = true;
      this.#wake();
    }
  }

  /** Yields the items from the first one on, and waits for further ones. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (let at = 0; ; ) {
      if (at < this.#items.length) yield this.#items[at++] as T;
      else if (this.#error !== undefined) throw this.#error;
      else if (this.#isEnded) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
