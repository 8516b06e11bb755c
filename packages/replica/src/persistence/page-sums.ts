// A checksum for each 4 KiB page of a page file, in a file beside it. Checksums form blocks of
// 1,024, and each block has two places: a checkpoint writes a changed block to the unused place, so
// that the checksums of the last snapshot stay until the next one exists. The snapshot contains a
// checksum of each block, which identifies the valid place.
//
//   block n, place p   at (2 n + p) * 4,096: 1,024 * u32, little endian: CRC-32 of the page XOR
//                      that of a page of zeros; 0 for a page that was never written

import { closeSync, constants, existsSync, fdatasyncSync, openSync, rmSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { osPageBytes } from '../core.ts';
import { StateDamage } from '../state-damage.ts';
import { fileMode, readFully, writeFully } from './durable-file.ts';

const sumsPerBlock = 1_024;
const blockBytes = sumsPerBlock * 4;
const zeroPageSum = crc32(new Uint8Array(osPageBytes));
const never = new Uint32Array(sumsPerBlock);

interface Block {
  readonly sums: Uint32Array;
  /** The place that was last read or written. */
  place: number;
  isChanged: boolean;
}

export function pageSum(page: Uint8Array): number {
  return (crc32(page) ^ zeroPageSum) >>> 0;
}

export class PageSums {
  readonly #path: string;
  readonly #blocks = new Map<number, Block>();
  #expected: number[];

  /** `expected`: the result of `write` in the valid snapshot. */
  constructor(path: string, expected: Uint8Array) {
    this.#path = path;
    const view = new DataView(expected.buffer, expected.byteOffset, expected.byteLength);
    this.#expected = Array.from({ length: expected.length / 4 }, (_, index) =>
      view.getUint32(index * 4, true),
    );
  }

  /** Throws StateDamage if the requested checksums are damaged. */
  get(page: number): number {
    const index = Math.floor(page / sumsPerBlock);
    const isThere = this.#blocks.has(index) || (this.#expected[index] ?? 0) !== 0;
    return isThere ? (this.#block(index).sums[page % sumsPerBlock] ?? 0) : 0;
  }

  set(page: number, sum: number): void {
    const block = this.#block(Math.floor(page / sumsPerBlock));
    block.sums[page % sumsPerBlock] = sum;
    block.isChanged = true;
  }

  /** Resets all pages to never written. */
  clear(): void {
    this.#blocks.clear();
    this.#expected = [];
  }

  /** Reads all blocks. Throws StateDamage. */
  check(): void {
    this.#expected.forEach((sum, index) => {
      if (sum !== 0) this.#block(index);
    });
  }

  /** Writes changed blocks to the disk; returns the data for the snapshot: 4 bytes per block. */
  write(): Uint8Array {
    const changed = [...this.#blocks].filter(([, block]) => block.isChanged);
    if (changed.length > 0) this.#writeBlocks(changed);
    const bytes = Buffer.alloc(this.#expected.length * 4);
    this.#expected.forEach((sum, index) => {
      bytes.writeUInt32LE(sum, index * 4);
    });
    return bytes;
  }

  remove(): void {
    this.clear();
    rmSync(this.#path, { force: true });
  }

  #writeBlocks(changed: readonly (readonly [number, Block])[]): void {
    const file = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, fileMode);
    try {
      for (const [index, block] of changed) {
        block.place = 1 - block.place;
        const source = Buffer.from(block.sums.buffer);
        writeFully(file, { source, position: (2 * index + block.place) * blockBytes });
        while (this.#expected.length < index) this.#expected.push(0);
        this.#expected[index] = blockSum(source);
        block.isChanged = false;
      }
      fdatasyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  #block(index: number): Block {
    const known = this.#blocks.get(index);
    if (known !== undefined) return known;
    const expected = this.#expected[index] ?? 0;
    const block =
      expected === 0
        ? { sums: never.slice(), place: 1, isChanged: false }
        : this.#readBlock(index, expected);
    this.#blocks.set(index, block);
    return block;
  }

  #readBlock(index: number, expected: number): Block {
    if (!existsSync(this.#path)) throw new StateDamage(`The file ${this.#path} is missing`);
    const file = openSync(this.#path, 'r');
    try {
      for (const place of [0, 1]) {
        const target = Buffer.from(new ArrayBuffer(blockBytes));
        readFully(file, { target, position: (2 * index + place) * blockBytes });
        if (blockSum(target) !== expected) continue;
        return { sums: new Uint32Array(target.buffer), place, isChanged: false };
      }
    } finally {
      closeSync(file);
    }
    throw new StateDamage(`The file ${this.#path} is damaged, or older than the snapshot`);
  }
}

/** 0 stands for a block that was never written. */
function blockSum(bytes: Uint8Array): number {
  return crc32(bytes) || 1;
}
