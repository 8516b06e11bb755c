// Searches a dump for any sequence of bytes of a secret, at any offset.

import type { MemoryStores } from './memory-stores.ts';

const filterBits = 2 ** 24;
const pageBytes = 4_096;
const zeros = Buffer.alloc(pageBytes);

function filterPosition(view: DataView, at: number): number {
  const mixed = Math.imul(
    view.getUint32(at, true) ^ (view.getUint32(at + 4, true) >>> 3),
    0x9e3779b1,
  );
  return mixed >>> 8;
}

/**
 * Returns the offset in `dump` of the first sequence of `length` bytes (8 or more) that also occurs
 * in `secret`; -1 without one. With a step, which divides 4,096, only every step-th offset is
 * compared: a sequence of `length + step - 1` bytes is always found.
 */
export function findShared(dump: Uint8Array, secret: Uint8Array, length: number, step = 1): number {
  const windows = new Set<string>();
  const filter = new Uint8Array(filterBits / 8);
  const secretText = Buffer.from(secret).toString('latin1');
  const secretView = new DataView(secret.buffer, secret.byteOffset, secret.byteLength);
  for (let at = 0; at + length <= secret.length; at++) {
    windows.add(secretText.slice(at, at + length));
    const position = filterPosition(secretView, at);
    filter[position >>> 3] = (filter[position >>> 3] ?? 0) | (1 << (position & 7));
  }
  const bytes = Buffer.from(dump.buffer, dump.byteOffset, dump.byteLength);
  const view = new DataView(dump.buffer, dump.byteOffset, dump.byteLength);
  for (let at = 0; at + length <= dump.length; at += step) {
    // No secret here has a page of zeros.
    if (at % pageBytes === 0 && bytes.subarray(at, at + pageBytes).equals(zeros)) {
      at += pageBytes - Math.max(length, step);
      continue;
    }
    const position = filterPosition(view, at);
    const mayBe = ((filter[position >>> 3] ?? 0) & (1 << (position & 7))) !== 0;
    if (mayBe && windows.has(bytes.toString('latin1', at, at + length))) return at;
  }
  return -1;
}

/** Returns the bytes of a dump of the canister's stable memory. */
export function dumpOf(stores: MemoryStores): Uint8Array {
  const { meta, buckets, apiKeys, files, chunks, uploads, uploadExpirations, reclaims } = stores;
  const maps = [meta, buckets, apiKeys, files, chunks, uploads, uploadExpirations, reclaims];
  const entries = [...maps, stores.members].flatMap((map) => map.entries().flat());
  return Buffer.concat([stores.system.stable, ...entries]);
}
