// Formats the cost of a message as one line for people.

import type { MessageReport } from '../core.ts';

export function reportLine(report: MessageReport): string {
  const { kind, method, instructions, cycles, heapPages, stablePages, milliseconds } = report;
  const millions = (value: bigint) => `${(Number(value) / 1e6).toFixed(1)} M`;
  const what = `${kind}${method === '' ? '' : ` ${method}`}`.padEnd(36);
  const cost = `${millions(instructions)} instructions, ${millions(cycles)} cycles`;
  const pages = `${heapPages} heap and ${stablePages} stable pages`;
  const failure = report.error === undefined ? '' : ` — ${report.error}`;
  return `${what} ${cost}, ${pages}, ${milliseconds.toFixed(1)} ms${failure}`;
}
