// The number of the last answered commit, in a file beside the journal: a journal that ends before
// that commit has lost data, and is not just torn. The number is written after the journal without
// a flush, because an older number does no harm.
//
//   "ICRANSW2" (8) | sequence u64 | crc32 of the 16 bytes before (4)       little endian

import { closeSync, existsSync, openSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { StateDamage } from '../state-damage.ts';
import { readFully, writeFileDurably, writeFully } from './durable-file.ts';

const magic = Buffer.from('ICRANSW2');
const bytesOfMark = 20;

function encode(sequence: number): Buffer {
  const bytes = Buffer.alloc(bytesOfMark);
  magic.copy(bytes);
  bytes.writeBigUInt64LE(BigInt(sequence), 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 16)), 16);
  return bytes;
}

/** Creates or replaces the file. */
export function writeAnsweredMark(path: string, sequence: number): void {
  writeFileDurably(path, [encode(sequence)]);
}

export class AnsweredMark {
  readonly #file: number;
  readonly #found: number;

  /** Throws StateDamage. */
  constructor(path: string) {
    if (!existsSync(path)) throw new StateDamage(`The file ${path} is missing`);
    this.#file = openSync(path, 'r+');
    const bytes = Buffer.alloc(bytesOfMark);
    readFully(this.#file, { target: bytes, position: 0 });
    this.#found = Number(bytes.readBigUInt64LE(8));
    if (encode(this.#found).equals(bytes)) return;
    closeSync(this.#file);
    throw new StateDamage(`The file ${path}, which has the last answered commit, is damaged`);
  }

  /** Returns the number at the time of opening. */
  get found(): number {
    return this.#found;
  }

  write(sequence: number): void {
    writeFully(this.#file, { source: encode(sequence), position: 0 });
  }

  close(): void {
    closeSync(this.#file);
  }
}
