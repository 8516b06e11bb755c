// The journal: an append-only file of numbered, checksummed, uninterpreted records, one per commit.
//
//   file    "ICRJRNL2" (8) | nonce (16) | base: sequence u64 and checksum u32 of the snapshot that
//           it continues | crc32 of nonce and base (4) | record *
//   record  nonce[0..4] (4) | sequence u64 | payload bytes u64 | crc32 of payload (4) |
//           crc32 of nonce and the 24 bytes before (4) | payload                    little endian
//
// Each reset creates a new nonce, so that neither leftovers nor stored copies look like records.
// "ICRJRNL1", the former layout, has no base: records follow the nonce.

import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fdatasyncSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { StateDamage } from '../state-damage.ts';
import { readFully, writeFileDurably, writePartsFully } from './durable-file.ts';

const magic = Buffer.from('ICRJRNL2');
const formerMagic = Buffer.from('ICRJRNL1');
const nonceBytes = 16;
const formerHeaderBytes = magic.length + nonceBytes;
const fileHeaderBytes = formerHeaderBytes + 16;
const recordHeaderBytes = 28;
const scanBytes = 2 ** 20;

export interface JournalRecord {
  readonly sequence: number;
  readonly payload: Uint8Array;
}

interface RecordHeader {
  readonly sequence: number;
  readonly payloadBytes: number;
  readonly checksum: number;
}

/** The snapshot that a journal continues. */
export interface JournalBase {
  /** The number of the last record that the snapshot includes. */
  readonly sequence: number;
  readonly checksum: number;
}

export interface JournalOptions {
  /** Waits for the disk at each record. */
  readonly sync: boolean;
  readonly snapshot: JournalBase;
  /** The last answered record: a journal that ends before this record has lost data. */
  readonly answered: number;
  /** Called before each write; an exception fails the write. */
  readonly onWrite: (bytes: number) => void;
}

export class Journal {
  readonly #path: string;
  readonly #options: JournalOptions;
  readonly #file: number;
  readonly #nonce: Buffer;
  /** `undefined`: the former layout. */
  readonly #base: JournalBase | undefined;
  readonly #start: number;
  #end: number;
  #lastSequence: number;
  #damage: string | undefined;

  /** Opens the journal; `replay` must follow before the first `append`. Throws StateDamage. */
  constructor(path: string, options: JournalOptions) {
    this.#path = path;
    this.#options = options;
    this.#lastSequence = options.snapshot.sequence;
    if (!existsSync(path)) throw new StateDamage(`The journal ${path} is missing`);
    this.#file = openSync(path, 'r+');
    const { nonce, base } = readFileHeader(this.#file, path);
    this.#nonce = nonce;
    this.#base = base;
    this.#start = base === undefined ? formerHeaderBytes : fileHeaderBytes;
    this.#end = this.#start;
  }

  /** Bytes of records that a restart would have to replay. */
  get size(): number {
    return this.#end - this.#start;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  /**
   * Passes on the records after the snapshot, without a torn last one that was not answered. Throws
   * StateDamage for any other fault, after passing on the records before it.
   */
  replay(onRecord: (record: JournalRecord) => void): void {
    const fileSize = fstatSync(this.#file).size;
    let position = this.#start;
    let last = this.#base?.sequence ?? 0;
    this.#checkBase();
    while (position < fileSize) {
      const header = this.#readHeader(position);
      const payload = header && this.#readPayload(header, { position, fileSize });
      if (header === undefined || payload === undefined) {
        this.#refuseCorruptMiddle(position, fileSize);
        break;
      }
      if (this.#base && header.sequence !== last + 1) throw this.#corrupt(position);
      last = header.sequence;
      if (header.sequence > this.#lastSequence) {
        if (header.sequence !== this.#lastSequence + 1) throw this.#corrupt(position);
        onRecord({ sequence: header.sequence, payload });
        this.#lastSequence = header.sequence;
      }
      position += recordHeaderBytes + header.payloadBytes;
    }
    this.#checkEnds(last);
    this.#end = position;
    if (position < fileSize) ftruncateSync(this.#file, position);
  }

  /**
   * Appends one record. A failed write leaves the journal unchanged; after a failed flush, every
   * append throws.
   */
  append(change: readonly Uint8Array[]): void {
    if (this.#damage !== undefined) throw new Error(this.#damage);
    // zlib's CRC-32 restarts at an empty part.
    const parts = change.filter(({ length }) => length > 0);
    const record = [this.#encodeHeader(parts), ...parts];
    const length = record.reduce((sum, part) => sum + part.length, 0);
    try {
      this.#options.onWrite(length);
      writePartsFully(this.#file, { parts: record, length, position: this.#end });
    } catch (error) {
      this.#undoWrite();
      throw error;
    }
    if (this.#options.sync) this.#flush();
    this.#end += length;
    this.#lastSequence += 1;
  }

  close(): void {
    closeSync(this.#file);
  }

  #flush(): void {
    try {
      fdatasyncSync(this.#file);
    } catch (error) {
      // After a failed flush the content of the disk is unknown: fsync(2), "ERRORS".
      const reason = `could not be flushed (${error})`;
      this.#damage = `The journal ${this.#path} ${reason}; restart the replica`;
      throw new Error(this.#damage);
    }
  }

  #undoWrite(): void {
    try {
      ftruncateSync(this.#file, this.#end);
    } catch (error) {
      const reason = `could not be written (${error})`;
      this.#damage = `The journal ${this.#path} ${reason}; restart the replica`;
    }
  }

  /** Checks that the journal begins at the end of the snapshot or before. */
  #checkBase(): void {
    const { snapshot } = this.#options;
    if (this.#base === undefined || this.#base.sequence < snapshot.sequence) return;
    const { sequence, checksum } = this.#base;
    const isSame = sequence === snapshot.sequence && checksum === snapshot.checksum;
    if (!isSame) throw this.#ofOtherTime();
  }

  #ofOtherTime(): StateDamage {
    const [first, last] = [this.#base?.sequence, this.#options.snapshot.sequence];
    return new StateDamage(
      `The journal ${this.#path} and the snapshot beside it do not match: one is ` +
        `missing, or an older copy (the journal begins after commit ${first}, the snapshot ends ` +
        `with ${last})`,
    );
  }

  /** Checks that the journal extends to the end of the snapshot and to the last answered record. */
  #checkEnds(last: number): void {
    const { snapshot, answered } = this.#options;
    // A crash between a snapshot and its new journal leaves the former journal, which ends where
    // the snapshot ends.
    const isFormer = this.#base !== undefined && this.#base.sequence < snapshot.sequence;
    if (isFormer && last !== snapshot.sequence) throw this.#ofOtherTime();
    if (this.#lastSequence < answered) {
      throw new StateDamage(
        `The journal ${this.#path} ends at commit ${this.#lastSequence}, but ${answered} were ` +
          'answered: its end is missing or damaged, or the file is an older copy',
      );
    }
  }

  #encodeHeader(parts: readonly Uint8Array[]): Buffer {
    const header = Buffer.alloc(recordHeaderBytes);
    this.#nonce.copy(header, 0, 0, 4);
    header.writeBigUInt64LE(BigInt(this.#lastSequence + 1), 4);
    header.writeBigUInt64LE(BigInt(parts.reduce((sum, part) => sum + part.length, 0)), 12);
    header.writeUInt32LE(
      parts.reduce((sum, part) => crc32(part, sum), 0),
      20,
    );
    header.writeUInt32LE(this.#headerChecksum(header), 24);
    return header;
  }

  #headerChecksum(header: Buffer): number {
    return crc32(header.subarray(0, 24), crc32(this.#nonce));
  }

  #readHeader(position: number): RecordHeader | undefined {
    const header = Buffer.alloc(recordHeaderBytes);
    if (readFully(this.#file, { target: header, position }) < recordHeaderBytes) return undefined;
    if (!header.subarray(0, 4).equals(this.#nonce.subarray(0, 4))) return undefined;
    if (header.readUInt32LE(24) !== this.#headerChecksum(header)) return undefined;
    return {
      sequence: Number(header.readBigUInt64LE(4)),
      payloadBytes: Number(header.readBigUInt64LE(12)),
      checksum: header.readUInt32LE(20),
    };
  }

  #readPayload(
    header: RecordHeader,
    at: { readonly position: number; readonly fileSize: number },
  ): Uint8Array | undefined {
    const start = at.position + recordHeaderBytes;
    if (start + header.payloadBytes > at.fileSize) return undefined;
    const payload = Buffer.allocUnsafe(header.payloadBytes);
    readFully(this.#file, { target: payload, position: start });
    return crc32(payload) === header.checksum ? payload : undefined;
  }

  /**
   * Throws if a good record follows the bad one, which is then damaged; a bad last record is torn.
   */
  #refuseCorruptMiddle(from: number, fileSize: number): void {
    const mark = this.#nonce.subarray(0, 4);
    const block = Buffer.alloc(scanBytes + mark.length);
    for (let start = from + 1; start < fileSize; start += scanBytes) {
      const count = readFully(this.#file, { target: block, position: start });
      const bytes = block.subarray(0, count);
      for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) {
        if (this.#readHeader(start + at) !== undefined) throw this.#corrupt(from);
      }
    }
  }

  #corrupt(position: number): StateDamage {
    return new StateDamage(
      `The journal ${this.#path} is corrupt at byte ${position}, with good records after it`,
    );
  }
}

/** Replaces the journal with an empty one that continues a snapshot. */
export function writeEmptyJournal(path: string, base: JournalBase): void {
  const header = Buffer.alloc(fileHeaderBytes);
  magic.copy(header);
  randomBytes(nonceBytes).copy(header, magic.length);
  header.writeBigUInt64LE(BigInt(base.sequence), formerHeaderBytes);
  header.writeUInt32LE(base.checksum, formerHeaderBytes + 8);
  header.writeUInt32LE(crc32(header.subarray(magic.length, -4)), fileHeaderBytes - 4);
  writeFileDurably(path, [header]);
}

function readFileHeader(
  file: number,
  path: string,
): { readonly nonce: Buffer; readonly base: JournalBase | undefined } {
  const header = Buffer.alloc(fileHeaderBytes);
  const count = readFully(file, { target: header, position: 0 });
  const found = header.subarray(0, magic.length);
  const nonce = header.subarray(magic.length, formerHeaderBytes);
  if (count >= formerHeaderBytes && found.equals(formerMagic)) return { nonce, base: undefined };
  if (count < fileHeaderBytes || !found.equals(magic)) {
    throw new StateDamage(`${path} is not a replica's journal, or its beginning is damaged`);
  }
  if (header.readUInt32LE(fileHeaderBytes - 4) !== crc32(header.subarray(magic.length, -4))) {
    throw new StateDamage(`The journal ${path} is damaged in its first ${fileHeaderBytes} bytes`);
  }
  const sequence = Number(header.readBigUInt64LE(formerHeaderBytes));
  return { nonce, base: { sequence, checksum: header.readUInt32LE(formerHeaderBytes + 8) } };
}
