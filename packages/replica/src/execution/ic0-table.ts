// The System API: every function of module `ic0`, one row each. IC spec, "Overview of imports".

import type { SystemInterface } from '../wasm/check-functions.ts';
import type { SystemInterfaces } from '../wasm/check-module.ts';
import type { Address } from '../wasm/memories.ts';
import { callRows } from './ic0-calls.ts';
import { cyclesRows } from './ic0-cycles.ts';
import { environmentRows } from './ic0-environment.ts';
import { messageRows } from './ic0-message.ts';
import type { Row } from './ic0-row.ts';
import { stableRows } from './ic0-stable.ts';
import { systemRows } from './ic0-system.ts';

export const ic0Table: readonly Row[] = [
  ...messageRows,
  ...cyclesRows,
  ...callRows,
  ...stableRows,
  ...systemRows,
  ...environmentRows,
];

function signatures(address: Address): SystemInterface {
  const wide = (letters: string) => letters.replaceAll(/[pe]/g, address);
  const rows = ic0Table.filter(({ isOnly32 = false }) => address === 'i' || !isOnly32);
  return new Map(
    rows.map(({ name, params, results }) => [
      name,
      { params: wide(params), results: wide(results) },
    ]),
  );
}

/** Signatures by name, for the check of a module's imports. */
export const ic0Interface: SystemInterfaces = { i: signatures('i'), I: signatures('I') };
