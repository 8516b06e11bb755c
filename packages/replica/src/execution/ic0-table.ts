// The System API: every function of module `ic0`, one row each. IC spec, "Overview of imports".

import type { FunctionType } from '../wasm/sections.ts';
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

/** Signatures by name, for the check of a module's imports. */
export const ic0Interface: ReadonlyMap<string, FunctionType> = new Map(
  ic0Table.map(({ name, params, results }) => [name, { params, results }]),
);
