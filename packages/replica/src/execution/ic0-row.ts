// The form of a row of the System API table, and the functions by which rows access the heap. IC
// spec, "System API: Blob-typed arguments and results".

import type { Execution } from './canister.ts';
import type { Context } from './context.ts';
import { parseContexts } from './context.ts';
import { contractViolation } from './errors.ts';

export type Argument = number | bigint;
export type Result = number | bigint | undefined;

/**
 * Parameters and results by letter: `i` is an i32, and `I` an i64, both read as unsigned. Two
 * letters stand for the specification's `I`, which is as wide as addresses: `p` is a number
 * (inexact from 2^53 on, beyond any memory), and `e` is passed on unchanged.
 */
interface LetterValues {
  readonly i: number;
  readonly I: bigint;
  readonly p: number;
  readonly e: number | bigint;
}

type ArgumentsOf<Params extends string> = Params extends `${infer Head}${infer Rest}`
  ? [Head extends keyof LetterValues ? LetterValues[Head] : never, ...ArgumentsOf<Rest>]
  : [];

export interface Cost {
  readonly fixed: number;
  readonly perByte?: number;
  /** Positions of the arguments that are lengths in bytes. */
  readonly lengths?: readonly number[];
  /** Maximum number of charged bytes; further bytes of an argument are free. */
  readonly bytesMax?: number;
}

export interface Row {
  readonly name: string;
  readonly params: string;
  readonly results: string;
  readonly contexts: ReadonlySet<Context>;
  readonly cost: Cost;
  /** Whether modules with 64-bit addresses lack the function. */
  readonly isOnly32?: boolean;
  readonly run: (execution: Execution, args: readonly Argument[]) => Result;
}

/** The cost of nearly all functions, without a cost per byte. */
export const usualCost: Cost = { fixed: 500 };
export const copyCost = (length: number): Cost => ({ fixed: 500, perByte: 1, lengths: [length] });
/** The cost of functions whose bytes leave the canister. */
export const sendCost = (length: number): Cost => ({ fixed: 500, perByte: 50, lengths: [length] });

export function row<const Params extends string>(spec: {
  readonly name: string;
  readonly params: Params;
  readonly results: '' | 'i' | 'I' | 'p';
  readonly contexts: string;
  readonly cost: Cost;
  readonly isOnly32?: boolean;
  readonly run: (execution: Execution, ...args: ArgumentsOf<Params>) => Result;
}): Row {
  const { run, ...rest } = spec;
  return {
    ...rest,
    contexts: parseContexts(spec.contexts),
    run: (execution, args) => run(execution, ...(args as ArgumentsOf<Params>)),
  };
}

export interface Span {
  readonly name: string;
  readonly start: number;
  readonly size: number;
}

function checkHeap(execution: Execution, span: Span): Buffer {
  const heap = execution.sandbox.heap();
  if (span.start + span.size > heap.length) {
    throw contractViolation(
      `ic0.${span.name} heap: src=${span.start} + length=${span.size} exceeds the slice ` +
        `size=${heap.length}`,
    );
  }
  return heap;
}

/** Returns a copy of `size` bytes of the heap. */
export function readHeap(execution: Execution, span: Span): Uint8Array {
  const heap = checkHeap(execution, span);
  return new Uint8Array(heap.subarray(span.start, span.start + span.size));
}

export function readText(execution: Execution, span: Span): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readHeap(execution, span));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw contractViolation(`ic0.${span.name}: the text is not valid UTF-8`);
  }
}

/** `*_copy`: copies `source[offset, offset + size)` to `heap[destination, …)`. */
export function copyToHeap(
  execution: Execution,
  copy: {
    readonly name: string;
    readonly source: Uint8Array;
    readonly destination: number;
    readonly offset: number;
    readonly size: number;
  },
): undefined {
  const { name, source, destination, offset, size } = copy;
  if (offset + size > source.length) {
    throw contractViolation(
      `ic0.${name} payload: src=${offset} + length=${size} exceeds the slice ` +
        `size=${source.length}`,
    );
  }
  const heap = checkHeap(execution, { name, start: destination, size });
  heap.set(source.subarray(offset, offset + size), destination);
}

/** Writes a 128-bit number, little endian, as the cycles functions do. */
export function write128(
  execution: Execution,
  to: { readonly name: string; readonly destination: number; readonly value: bigint },
): undefined {
  const heap = checkHeap(execution, { name: to.name, start: to.destination, size: 16 });
  heap.writeBigUInt64LE(BigInt.asUintN(64, to.value), to.destination);
  heap.writeBigUInt64LE(BigInt.asUintN(64, to.value >> 64n), to.destination + 8);
}

export function from128(high: bigint, low: bigint): bigint {
  return (high << 64n) | low;
}

/** Returns the rows `NAME_size` and `NAME_copy` of a blob that the canister may read. */
export function blobRows(spec: {
  readonly name: string;
  readonly contexts: string;
  readonly read: (execution: Execution) => Uint8Array;
}): Row[] {
  const copyName = `${spec.name}_copy`;
  return [
    row({
      name: `${spec.name}_size`,
      params: '',
      results: 'p',
      contexts: spec.contexts,
      cost: usualCost,
      run: (execution) => spec.read(execution).length,
    }),
    row({
      name: copyName,
      params: 'ppp',
      results: '',
      contexts: spec.contexts,
      cost: copyCost(2),
      run: (execution, destination, offset, size) =>
        copyToHeap(execution, {
          name: copyName,
          source: spec.read(execution),
          destination,
          offset,
          size,
        }),
    }),
  ];
}
