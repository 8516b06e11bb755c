// System API rows: stable memory by 64-bit and deprecated 32-bit addresses. IC spec, "System API".

import { wasmPageBytes } from '../core.ts';
import type { Execution } from './canister.ts';
import { trapped } from './errors.ts';
import type { Row } from './ic0-row.ts';
import { row } from './ic0-row.ts';

const pagesOf32Bits = 65_536;
const transferCost = (length: number) => ({ fixed: 20, perByte: 1, lengths: [length] });

interface Transfer {
  readonly stableStart: bigint;
  readonly heapStart: bigint;
  readonly size: bigint;
}

/** Checks both bounds and returns the part of the heap; inexact numbers are beyond any bound. */
function locate(execution: Execution, transfer: Transfer): { heap: Uint8Array; offset: number } {
  const size = Number(transfer.size);
  const offset = Number(transfer.stableStart);
  const start = Number(transfer.heapStart);
  if (offset + size > execution.stable.pages() * wasmPageBytes) {
    throw trapped('stable memory out of bounds');
  }
  const { buffer, length } = execution.sandbox.heap();
  if (start + size > length) throw trapped('heap out of bounds');
  execution.stablePages.add(offset, size);
  return { heap: new Uint8Array(buffer, start, size), offset };
}

function write(execution: Execution, transfer: Transfer): undefined {
  if (transfer.size === 0n) return;
  const { heap, offset } = locate(execution, transfer);
  execution.stable.write(offset, heap);
}

function read(execution: Execution, transfer: Transfer): undefined {
  if (transfer.size === 0n) return;
  const { heap, offset } = locate(execution, transfer);
  execution.stable.read(offset, heap);
}

/** The 32-bit functions trap if the memory is larger than they can address. */
function check32(execution: Execution): void {
  if (execution.stable.pages() > pagesOf32Bits) {
    throw trapped('32 bit stable memory api used on a memory larger than 4GB');
  }
}

const pagesMax = 500n * 1024n * 16n;

function grow(execution: Execution, pages: bigint): number {
  return pages > pagesMax ? -1 : execution.stable.grow(Number(pages));
}

const rows64: readonly Row[] = [
  row({
    name: 'stable64_size',
    params: '',
    results: 'I',
    contexts: '* s',
    cost: { fixed: 20 },
    run: (execution) => BigInt(execution.stable.pages()),
  }),
  row({
    name: 'stable64_grow',
    params: 'I',
    results: 'I',
    contexts: '* s',
    cost: { fixed: 100 },
    run: (execution, pages) => BigInt(grow(execution, pages)),
  }),
  row({
    name: 'stable64_write',
    params: 'III',
    results: '',
    contexts: '* s',
    cost: transferCost(2),
    run: (execution, stableStart, heapStart, size) =>
      write(execution, { stableStart, heapStart, size }),
  }),
  row({
    name: 'stable64_read',
    params: 'III',
    results: '',
    contexts: '* s',
    cost: transferCost(2),
    run: (execution, heapStart, stableStart, size) =>
      read(execution, { stableStart, heapStart, size }),
  }),
];

const rows32: readonly Row[] = [
  row({
    name: 'stable_size',
    params: '',
    results: 'i',
    contexts: '* s',
    isOnly32: true,
    cost: { fixed: 20 },
    run: (execution) => {
      check32(execution);
      return execution.stable.pages();
    },
  }),
  row({
    name: 'stable_grow',
    params: 'i',
    results: 'i',
    contexts: '* s',
    isOnly32: true,
    cost: { fixed: 100 },
    run: (execution, pages) => {
      check32(execution);
      if (execution.stable.pages() + pages > pagesOf32Bits) return -1;
      return grow(execution, BigInt(pages));
    },
  }),
  row({
    name: 'stable_write',
    params: 'iii',
    results: '',
    contexts: '* s',
    isOnly32: true,
    cost: transferCost(2),
    run: (execution, stableStart, heapStart, size) => {
      check32(execution);
      const [a, b, c] = [BigInt(stableStart), BigInt(heapStart), BigInt(size)];
      return write(execution, { stableStart: a, heapStart: b, size: c });
    },
  }),
  row({
    name: 'stable_read',
    params: 'iii',
    results: '',
    contexts: '* s',
    isOnly32: true,
    cost: transferCost(2),
    run: (execution, heapStart, stableStart, size) => {
      check32(execution);
      const [a, b, c] = [BigInt(stableStart), BigInt(heapStart), BigInt(size)];
      return read(execution, { stableStart: a, heapStart: b, size: c });
    },
  }),
];

export const stableRows: readonly Row[] = [...rows64, ...rows32];
