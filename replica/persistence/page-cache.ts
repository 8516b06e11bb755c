// A bounded cache of file blocks, the longest unused leaving first. Shared by all page files of a
// store, so that the replica's memory does not grow with what is stored.

export const blockBytes = 65_536;
/** More blocks than the largest stable memory has; keys stay exact integers. */
const blocksPerFileMax = 2 ** 24;

export class PageCache {
  readonly #blocks = new Map<number, Uint8Array>();
  readonly #blocksMax: number;

  constructor(bytesMax: number) {
    this.#blocksMax = Math.max(1, Math.floor(bytesMax / blockBytes));
  }

  /** `file`: a number of the caller's choice, one per file. */
  get(file: number, block: number): Uint8Array | undefined {
    const key = file * blocksPerFileMax + block;
    const bytes = this.#blocks.get(key);
    if (bytes === undefined) return undefined;
    this.#blocks.delete(key);
    this.#blocks.set(key, bytes);
    return bytes;
  }

  /** Keeps the block that `fill` writes, whole: what it is given holds another block's bytes. */
  add(
    at: { readonly file: number; readonly block: number },
    fill: (bytes: Uint8Array) => void,
  ): Uint8Array {
    const bytes = this.#evicted() ?? new Uint8Array(blockBytes);
    fill(bytes);
    this.#blocks.set(at.file * blocksPerFileMax + at.block, bytes);
    return bytes;
  }

  forget(file: number): void {
    const first = file * blocksPerFileMax;
    for (const key of [...this.#blocks.keys()]) {
      if (key >= first && key < first + blocksPerFileMax) this.#blocks.delete(key);
    }
  }

  #evicted(): Uint8Array | undefined {
    if (this.#blocks.size < this.#blocksMax) return undefined;
    for (const [key, bytes] of this.#blocks) {
      this.#blocks.delete(key);
      return bytes;
    }
    return undefined;
  }
}
