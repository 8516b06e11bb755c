// Binds the System API to an instance: checks context, charges, converts numbers, calls the row.

import { osPageBytes } from '../core.ts';
import type { Address } from '../wasm/memories.ts';
import type { WasmImports } from '../wasm/web-assembly.ts';
import type { Execution, HostSlot } from './canister.ts';
import { modeName } from './context.ts';
import {
  CanisterTrap,
  contractViolation,
  stableAccessExceeded,
  stableChangesExceeded,
} from './errors.ts';
import type { Argument, Row } from './ic0-row.ts';
import { ic0Table } from './ic0-table.ts';
import { dirtyPageInstructions, stableBytesLimit } from './limits.ts';

/** Thrown if a function of the host uses up the instructions; metered code traps by itself. */
export class OutOfInstructions extends CanisterTrap {}

function charge(execution: Execution, amount: bigint): void {
  const left = execution.sandbox.instructionsLeft - amount;
  execution.sandbox.instructionsLeft = left;
  if (left < 0n) throw new OutOfInstructions('IC0522', 'out of instructions');
}

/** Computes the constants of a price once: a canister makes thousands of calls per message. */
function createPricing({ cost }: Row): (args: readonly Argument[]) => bigint {
  const { fixed, perByte = 0, lengths = [], bytesMax = Number.POSITIVE_INFINITY } = cost;
  const fixedCost = BigInt(fixed);
  if (perByte === 0 || lengths.length === 0) return () => fixedCost;
  return (args) => {
    let amount = fixed;
    for (const position of lengths) {
      amount += Math.min(Number(args[position] ?? 0), bytesMax) * perByte;
    }
    return BigInt(amount);
  };
}

function chargeStablePages(execution: Execution, before: number): void {
  const pages = execution.stable.dirtyPages();
  if (pages > before) charge(execution, BigInt(pages - before) * dirtyPageInstructions);
  const { limits } = execution.world;
  if (pages * osPageBytes > stableBytesLimit(limits, execution.context)) {
    throw stableChangesExceeded(limits);
  }
}

/** Written pages count like read ones. */
function checkStableAccess({ stablePages, world, context }: Execution): void {
  if (stablePages.count * osPageBytes > stableBytesLimit(world.limits, context)) {
    throw stableAccessExceeded(world.limits);
  }
}

/** JavaScript receives integers as signed; the System API defines them as unsigned. */
function unsigned(value: Argument): Argument {
  return typeof value === 'bigint' ? BigInt.asUintN(64, value) : value >>> 0;
}

/** Converts 64-bit pointers and lengths to numbers in place, by the letters of the row. */
function narrow(args: Argument[], { params }: Row): void {
  for (let at = 0; at < args.length; at++) {
    if (params[at] === 'p') args[at] = Number(args[at]);
  }
}

function bind(
  row: Row,
  slot: HostSlot,
  address: Address,
): (...args: Argument[]) => Argument | undefined {
  const isWide = address === 'I';
  const widensResult = isWide && row.results === 'p';
  const writesStable = row.name === 'stable64_write' || row.name === 'stable_write';
  const readsStable = row.name === 'stable64_read' || row.name === 'stable_read';
  const costOf = createPricing(row);
  return (...args) => {
    const execution = slot.execution;
    if (execution === undefined)
      throw contractViolation(`ic0.${row.name} called outside a message`);
    if (!row.contexts.has(execution.context)) {
      throw contractViolation(
        `"ic0_${row.name}" cannot be executed in ${modeName(execution.context)} mode`,
        'mode',
      );
    }
    for (let at = 0; at < args.length; at++) args[at] = unsigned(args[at] ?? 0);
    if (isWide) narrow(args, row);
    charge(execution, costOf(args));
    const before = writesStable ? execution.stable.dirtyPages() : 0;
    const result = row.run(execution, args);
    if (writesStable) chargeStablePages(execution, before);
    if (writesStable || readsStable) checkStableAccess(execution);
    return widensResult ? BigInt(result ?? 0) : result;
  };
}

/** Returns the imports of one instance, for a module with addresses of that type. */
export function createHost(slot: HostSlot, address: Address): WasmImports {
  const functions = ic0Table.map((row) => [row.name, bind(row, slot, address)] as const);
  return { ic0: Object.fromEntries(functions) };
}
