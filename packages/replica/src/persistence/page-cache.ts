// A limited cache of file blocks that drops the least recently used first. All page files of a
// store share it, so that the replica's memory does not grow with the stored data.

export const blockBytes = 65_536;
/** More blocks than the largest stable memory has; keys stay exact integers. */
const blocksPerFileMax = 2 ** 24;

/**
 * Two generations of blocks: those used since the last turn, and the others. A block moves at most
 * once per turn, because recording each use would cost more than the rest of a read.
 */
export class PageCache {
  #used = new Map<number, Uint8Array>();
  #unused = new Map<number, Uint8Array>();
  #leaving = this.#unused.entries();
  readonly #blocksMax: number;

  constructor(bytesMax: number) {
    this.#blocksMax = Math.max(1, Math.floor(bytesMax / blockBytes));
  }

  /** `file`: a number chosen by the caller, one per file. */
  get(file: number, block: number): Uint8Array | undefined {
    const key = file * blocksPerFileMax + block;
    const bytes = this.#used.get(key);
    if (bytes !== undefined) return bytes;
    const found = this.#unused.get(key);
    if (found === undefined) return undefined;
    this.#unused.delete(key);
    this.#used.set(key, found);
    return found;
  }

  /** Adds a block that `fill` writes completely: its buffer contains another block's bytes. */
  add(
    at: { readonly file: number; readonly block: number },
    fill: (bytes: Uint8Array) => void,
  ): Uint8Array {
    const bytes = this.#evicted() ?? new Uint8Array(blockBytes);
    fill(bytes);
    this.#used.set(at.file * blocksPerFileMax + at.block, bytes);
    return bytes;
  }

  forget(file: number): void {
    const first = file * blocksPerFileMax;
    for (const blocks of [this.#used, this.#unused]) {
      for (const key of [...blocks.keys()]) {
        if (key >= first && key < first + blocksPerFileMax) blocks.delete(key);
      }
    }
  }

  #evicted(): Uint8Array | undefined {
    if (this.#used.size + this.#unused.size < this.#blocksMax) return undefined;
    if (this.#unused.size === 0) this.#turn();
    const { value } = this.#leaving.next();
    if (value === undefined) return undefined;
    const [key, bytes] = value as [number, Uint8Array];
    this.#unused.delete(key);
    return bytes;
  }

  #turn(): void {
    this.#unused = this.#used;
    this.#used = new Map();
    this.#leaving = this.#unused.entries();
  }
}
