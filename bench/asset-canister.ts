// Costs of the same requests in this canister and in DFINITY's asset canister, which is written in
// Rust and does not encrypt.

import type { BenchRow } from './table.ts';

interface Compared {
  readonly request: string;
  /** The matching row of this canister's table. */
  readonly row: string;
  readonly bytes: number;
  /** Millions of instructions of the asset canister. */
  readonly theirs: number;
}

/**
 * Measured with the replica's meter and the released Wasm of dfx's asset canister. For 1.9 MB,
 * `theirs` is what this canister took in that run, 207 M and 168 M, divided by the measured ratios,
 * 1.39 and 1.63.
 */
const compared: readonly Compared[] = [
  { request: 'store', row: 'PUT', bytes: 1_000, theirs: 2.8 },
  { request: 'serve', row: 'GET', bytes: 1_000, theirs: 0.7 },
  { request: 'store a chunk of', row: 'chunk', bytes: 1_900_000, theirs: 149 },
  { request: 'serve a part of', row: 'GET part', bytes: 1_900_000, theirs: 103 },
];

/** Returns the comparison as a Markdown table. */
export function formatComparison(rows: readonly BenchRow[]): string {
  const lines = compared.map(({ request, row, bytes, theirs }) => {
    const ours = rows.find((each) => each.name === row && each.bytes === bytes);
    if (ours === undefined) throw new Error(`The bench has no row ${row} of ${bytes} B`);
    const millions = ours.instructions / 1e6;
    const cells = [
      `${request} ${bytes.toLocaleString('en-US')} B`,
      millions.toFixed(1),
      theirs.toFixed(1),
      (millions / theirs).toFixed(2),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const heads = '| instructions (M) | this canister | asset canister in Rust | ratio |';
  return [heads, '| --- | --- | --- | --- |', ...lines].join('\n');
}
