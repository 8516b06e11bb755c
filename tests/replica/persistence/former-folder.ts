// Writes a state folder in the former layout, byte by byte: no checksums of pages, no heaps.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { encode } from 'cborg';
import { osPageBytes } from '../../../packages/replica/src/core.ts';

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** Returns a page filled with one byte value. */
export const pageOf = (value: number) => Buffer.alloc(osPageBytes, value);

function journalRecord(nonce: Buffer, sequence: number, payload: Buffer): Buffer {
  const head = Buffer.concat([
    nonce.subarray(0, 4),
    u64(sequence),
    u64(payload.length),
    u32(crc32(payload)),
  ]);
  return Buffer.concat([head, u32(crc32(head, crc32(nonce))), payload]);
}

/**
 * Writes a snapshot of commit 1, with record `one` and one page of memory, and a journal of commits
 * 2 and 3, with records `two` and `three`, which fill page 1 with twos and page 0 with threes. The
 * page file already has both pages, as after a kill.
 */
export function writeFormerFolder(folder: string, id: string): void {
  const pages = join(folder, 'canisters', id);
  mkdirSync(pages, { recursive: true });
  mkdirSync(join(folder, 'modules'));
  const marker = 'Internet Computer local replica, state folder, format 1\n';
  writeFileSync(join(folder, 'replica-state'), marker);
  writeFileSync(join(pages, 'stable.bin'), Buffer.concat([pageOf(3), pageOf(2)]));
  const snapshot = encode({
    sequence: 1,
    canisters: [[id, Buffer.from('one')]],
    values: [['root key', Buffer.from('key')]],
    memories: [[id, 1]],
  });
  writeFileSync(join(folder, 'snapshot'), Buffer.concat([u32(crc32(snapshot)), snapshot]));
  const commit = (record: string, page: number, value: number) => {
    const head = encode({
      canisters: [[id, Buffer.from(record)]],
      memories: [{ id, cleared: false, pages: 1, runs: [[page, 1]] }],
      deleted: [],
      values: [],
    });
    return Buffer.concat([u32(head.length), head, pageOf(value)]);
  };
  const nonce = Buffer.from('0123456789abcdef');
  const records = [
    journalRecord(nonce, 2, commit('two', 1, 2)),
    journalRecord(nonce, 3, commit('three', 0, 3)),
  ];
  writeFileSync(
    join(folder, 'journal'),
    Buffer.concat([Buffer.from('ICRJRNL1'), nonce, ...records]),
  );
}
