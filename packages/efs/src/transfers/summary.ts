// Work on many files in which one failure does not stop the others, and a summary at its end.

import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import type { Run } from '../config/run.ts';
import { exitCodeOf, exitCodes, sayFailure } from '../output/exit-code.ts';
import { isJson } from '../output/json-output.ts';
import { printFailure, printJson, printLine, printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';

export interface Summary {
  /** The verb in `12 removed.` */
  readonly verb: string;
  done: number;
  /** The completed names, as printed; for JSON. */
  readonly names: string[];
  readonly failures: unknown[];
}

export function startSummary(verb: string): Summary {
  return { verb, done: 0, names: [], failures: [] };
}

export function countDone(summary: Summary, name: string): void {
  summary.done++;
  if (isJson()) summary.names.push(name);
  else printLine(printable(name));
}

export function countFailure(
  { verb, failures }: Pick<Summary, 'verb' | 'failures'>,
  name: string,
  error: unknown,
): void {
  failures.push(error);
  const text = `${printable(name)} is not ${verb}: ${sayFailure(error)}`;
  printFailure(error, text, name);
}

/** Error that ends the command, with the exit code of its cause. */
export function failureOf(cause: unknown, text: string): Error {
  if (!isStorageError(cause)) return new Error(text, { cause });
  return new StorageError(cause.code, text, { status: cause.status, cause });
}

/** Records an error of one name; rethrows an error that would affect all names. */
export async function continueAfterFailure(
  summary: Pick<Summary, 'verb' | 'failures'>,
  name: string,
  work: () => Promise<void>,
  isOfAll: (error: unknown) => boolean = endsAll,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isOfAll(error)) throw error;
    countFailure(summary, name, error);
  }
}

export function endsAll(error: unknown): boolean {
  const { interrupted, unreachable } = exitCodes;
  return [interrupted, unreachable].some((code) => code === exitCodeOf(error));
}

/** Prints the summary, as JSON with --json. Throws with the exit code of the first failure. */
export function finish(run: Run, summary: Summary, isSummedUp: boolean): void {
  if (isJson()) printJson(jsonOf(summary));
  endSummary(run, summary, isSummedUp);
}

function jsonOf({ verb, done, names, failures }: Summary): object {
  return { verb, done, failed: failures.length, names };
}

/** Like `finish`, for callers that have printed another JSON value. */
export function endSummary(run: Run, { verb, done, failures }: Summary, isSummedUp: boolean): void {
  const [first] = failures;
  if (first !== undefined) throw failureOf(first, `${done} ${verb}, ${failures.length} failed.`);
  if (isSummedUp && !run.isQuiet && !isJson()) printNote(`${done} ${verb}.`);
}
