// The journal: an append-only file of numbered, checksummed records, one per commit. It knows
// nothing of what a record means.
//
//   file    "ICRJRNL1" (8) | nonce (16) | record *
//   record  nonce[0..4] (4) | sequence u64 | payload bytes u64 | crc32 of payload (4) |
//           crc32 of nonce and the 24 bytes before (4) | payload                    little endian
//
// The nonce is new at each reset, so that neither leftovers nor stored copies look like records.

import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fdatasyncSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { readFully, writeFileDurably, writePartsFully } from './durable-file.ts';

const magic = Buffer.from('ICRJRNL1');
const nonceBytes = 16;
const fileHeaderBytes = magic.length + nonceBytes;
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

export interface JournalOptions {
  /** Wait for the disk at each record. */
  readonly sync: boolean;
  /** The number of the last record that is already part of the snapshot. */
  readonly lastSequence: number;
}

export class Journal {
  readonly #path: string;
  readonly #sync: boolean;
  #file: number;
  #nonce: Buffer;
  #end = fileHeaderBytes;
  #lastSequence: number;
  #damage: string | undefined;

  /** Opens or makes the journal; `replay` must follow before the first `append`. */
  constructor(path: string, options: JournalOptions) {
    this.#path = path;
    this.#sync = options.sync;
    this.#lastSequence = options.lastSequence;
    if (!existsSync(path)) writeEmptyJournal(path);
    this.#file = openSync(path, 'r+');
    this.#nonce = this.#readNonce();
  }

  /** Bytes of records that a restart would have to replay. */
  get size(): number {
    return this.#end - fileHeaderBytes;
  }

  get lastSequence(): number {
    return this.#lastSequence;
  }

  /** Hands over all whole records newer than the snapshot, drops a torn last one, refuses a corrupt
   * middle. */
  replay(onRecord: (record: JournalRecord) => void): void {
    const fileSize = fstatSync(this.#file).size;
    let position = fileHeaderBytes;
    while (position < fileSize) {
      const header = this.#readHeader(position);
      const payload = header && this.#readPayload(header, { position, fileSize });
      if (header === undefined || payload === undefined) {
        this.#refuseCorruptMiddle(position, fileSize);
        break;
      }
      if (header.sequence > this.#lastSequence) {
        if (header.sequence !== this.#lastSequence + 1) throw this.#corrupt(position);
        onRecord({ sequence: header.sequence, payload });
        this.#lastSequence = header.sequence;
      }
      position += recordHeaderBytes + header.payloadBytes;
    }
    this.#end = position;
    if (position < fileSize) ftruncateSync(this.#file, position);
  }

  /** Appends one record in one piece. When writing fails, the journal is as before; when flushing
   * fails, it is shut. */
  append(parts: readonly Uint8Array[]): void {
    if (this.#damage !== undefined) throw new Error(this.#damage);
    const record = [this.#encodeHeader(parts), ...parts];
    const length = record.reduce((sum, part) => sum + part.length, 0);
    try {
      writePartsFully(this.#file, { parts: record, length, position: this.#end });
    } catch (error) {
      this.#undoWrite();
      throw error;
    }
    if (this.#sync) this.#flush();
    this.#end += length;
    this.#lastSequence += 1;
  }

  /** Empties the journal: its records are part of the snapshot now. */
  reset(): void {
    writeEmptyJournal(this.#path);
    closeSync(this.#file);
    this.#file = openSync(this.#path, 'r+');
    this.#nonce = this.#readNonce();
    this.#end = fileHeaderBytes;
  }

  close(): void {
    closeSync(this.#file);
  }

  #flush(): void {
    try {
      fdatasyncSync(this.#file);
    } catch (error) {
      // After a failed flush nobody knows what the disk holds: fsync(2), "ERRORS".
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

  #readNonce(): Buffer {
    const header = Buffer.alloc(fileHeaderBytes);
    const count = readFully(this.#file, { target: header, position: 0 });
    if (count < fileHeaderBytes || !header.subarray(0, magic.length).equals(magic)) {
      throw new Error(`${this.#path} is not a replica's journal; restore it or start with --clean`);
    }
    return header.subarray(magic.length);
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

  /** A bad record is torn if it is the last. One with a good record behind it was once whole: that
   * is damage. */
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

  #corrupt(position: number): Error {
    return new Error(
      `The journal ${this.#path} is corrupt at byte ${position}, with good records after it; ` +
        'restore the state folder from a copy, or start anew with --clean',
    );
  }
}

function writeEmptyJournal(path: string): void {
  writeFileDurably(path, [magic, randomBytes(nonceBytes)]);
}
