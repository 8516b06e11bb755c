// A slow and simple reference model of an ordered index, and keys of many shapes for it.

import { indexKeyBytesMax } from '../../src/storage/ordered-index.ts';

/** The index in plain JavaScript: a sorted array. */
export class IndexReference {
  readonly keys: Buffer[] = [];
  readonly values = new Map<string, bigint>();

  rank(key: Buffer): number {
    let [low, high] = [0, this.keys.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Buffer.compare(this.keys[middle] ?? key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns the sum of the values of all lesser keys. */
  sum(key: Buffer): bigint {
    const lesser = this.keys.slice(0, this.rank(key));
    return lesser.reduce((sum, each) => sum + (this.values.get(each.toString('latin1')) ?? 0n), 0n);
  }

  insert(key: Buffer, value: bigint): bigint | undefined {
    const old = this.values.get(key.toString('latin1'));
    if (old === undefined) this.keys.splice(this.rank(key), 0, key);
    this.values.set(key.toString('latin1'), value);
    return old;
  }

  remove(key: Buffer): bigint | undefined {
    const old = this.values.get(key.toString('latin1'));
    if (old !== undefined) this.keys.splice(this.rank(key), 1);
    this.values.delete(key.toString('latin1'));
    return old;
  }

  read(rank: number, limit: number) {
    return this.keys.slice(rank, rank + limit).map((key) => {
      return { key: key.toString('latin1'), value: this.values.get(key.toString('latin1')) };
    });
  }
}

type KeyMaker = (random: (limit: number) => number) => Buffer;

function bytesOf(random: (limit: number) => number, length: number, variety: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random(variety) * Math.floor(255 / variety)));
}

export const indexKeyMakers: Readonly<Record<string, KeyMaker>> = {
  'of 1 to 1,300 bytes': (random) =>
    bytesOf(random, random(3) === 0 ? 1 + random(indexKeyBytesMax) : 1 + random(8), 256),
  'of 1 byte or 1,300': (random) =>
    random(4) === 0
      ? Buffer.concat([Buffer.alloc(indexKeyBytesMax - 2, 7), bytesOf(random, 2, 256)])
      : bytesOf(random, 1, 256),
  'with long common beginnings': (random) =>
    Buffer.concat([Buffer.alloc(40 * random(30), 'p'), bytesOf(random, 3, 20)]),
  'of few letters': (random) => bytesOf(random, random(9), 2),
  'like those of a listing': (random) =>
    Buffer.from(`bucket\0\0${String.fromCharCode(random(5))}dir${random(20)}/file-${random(400)}`),
};
