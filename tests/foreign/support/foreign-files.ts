// Finds the foreign Wasm files to test in environment variables; several files are separated as in
// PATH.
//   EFS_FOREIGN_ASSETS, EFS_FOREIGN_LEDGER, EFS_FOREIGN_COUNTER

import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';

export type ForeignKind = 'assets' | 'ledger' | 'counter';

export function foreignFiles(kind: ForeignKind): readonly string[] {
  const named = process.env[`EFS_FOREIGN_${kind.toUpperCase()}`] ?? '';
  return named.split(delimiter).filter((path) => path !== '');
}

/** Returns the test files for which the environment names a canister. */
export function foreignSuite(): string[] {
  return (['assets', 'ledger', 'counter'] as const)
    .filter((kind) => foreignFiles(kind).length > 0)
    .map((kind) => `tests/foreign/${kind}.test.ts`);
}

export function readForeign(path: string): Uint8Array {
  return new Uint8Array(readFileSync(path));
}
