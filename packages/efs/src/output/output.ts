// Output of the command: tables and JSON on standard output, everything else on standard error.

import { isJson, jsonOfFailure, jsonOfNote } from './json-output.ts';
import { printable, printableJson, printableLines, withoutKeys } from './printable.ts';
import { withoutProgress, writeErrorLine } from './standard-error.ts';

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Uses decimal units and three digits: `1.23 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** Uses three digits: `1.23 T cycles`. A canister without charges reports the largest number. */
export function formatCycles(cycles: number): string {
  if (cycles >= Number.MAX_SAFE_INTEGER) return 'no charge';
  const [value, unit] = cycles < 999.5e9 ? [cycles / 1e9, 'G'] : [cycles / 1e12, 'T'];
  return `${value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${unit} cycles`;
}

/** `3 s`, `2:05`, `1:02:03`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor((whole % 3_600) / 60)];
  const tail = `${two(minutes)}:${two(whole % 60)}`;
  return hours > 0 ? `${hours}:${tail}` : tail.replace(/^0/, '');
}

export interface Column<T> {
  readonly title: string;
  readonly value: (row: T) => string;
  readonly isNumber?: boolean;
}

/** Formats columns two spaces apart, numbers aligned to the right. */
export function formatTable<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ value }) => printable(value(row)))),
  ];
  const widths = columns.map((_, index) =>
    Math.max(...cells.map((row) => width(row[index] ?? ''))),
  );
  const lines = cells.map((row) =>
    row
      .map((cell, index) => {
        const space = ' '.repeat((widths[index] ?? 0) - width(cell));
        return columns[index]?.isNumber ? space + cell : cell + space;
      })
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}

function width(text: string): number {
  return [...text].length;
}

export function printLine(text: string): void {
  writeLine(printableLines(text));
}

export function printJson(value: unknown): void {
  writeLine(printableJson(JSON.stringify(value, null, 2)));
}

/** Prints the value as one line, for outputs of many values. */
export function printJsonLine(value: unknown): void {
  writeLine(printableJson(JSON.stringify(value)));
}

function writeLine(line: string): void {
  withoutProgress(() => process.stdout.write(`${line}\n`));
}

export function printNote(text: string): void {
  writeErrorLine(isJson() ? printableJson(jsonOfNote(text)) : printableLines(text));
}

/** `text` is the complete message; `name` is the failed file if others continue. */
export function printFailure(error: unknown, text: string, name?: string): void {
  const line = isJson() ? printableJson(jsonOfFailure(error, name)) : printableLines(text);
  writeErrorLine(withoutKeys(line));
}

/** Prints the result of a command: a name for people, or a value as JSON. */
export function printResult(value: object, line: string): void {
  if (isJson()) printJson(value);
  else printLine(line);
}
