// Work on many files, in which one that fails keeps none of the others: what was done is counted,
// what failed is said, and both are summed up in the end.

import { isStorageError, StorageError } from '../../../client/src/storage-error.ts';
import type { Run } from '../config/run.ts';
import { exitCodeOf, exitCodes, sayFailure } from '../output/exit-code.ts';
import { isJson } from '../output/json-output.ts';
import { printFailure, printJson, printLine, printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';

export interface Tally {
  /** As in `12 removed.` */
  readonly verb: string;
  done: number;
  /** What was done, as it is printed; for JSON. */
  readonly names: string[];
  readonly failures: unknown[];
}

export function startTally(verb: string): Tally {
  return { verb, done: 0, names: [], failures: [] };
}

export function countDone(tally: Tally, name: string): void {
  tally.done++;
  if (isJson()) tally.names.push(name);
  else printLine(printable(name));
}

export function countFailure(
  { verb, failures }: Pick<Tally, 'verb' | 'failures'>,
  name: string,
  error: unknown,
): void {
  failures.push(error);
  const text = `${printable(name)} is not ${verb}: ${sayFailure(error)}`;
  printFailure(error, text, name);
}

/** What ends the command in the end, with the exit code of its cause. */
export function failureOf(cause: unknown, text: string): Error {
  if (!isStorageError(cause)) return new Error(text, { cause });
  return new StorageError(cause.code, text, { status: cause.status, cause });
}

/** What ends the work on one name is kept; what would end it on all of them ends the command. */
export async function goOnAfterFailure(
  tally: Pick<Tally, 'verb' | 'failures'>,
  name: string,
  work: () => Promise<void>,
  isOfAll: (error: unknown) => boolean = endsAll,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isOfAll(error)) throw error;
    countFailure(tally, name, error);
  }
}

export function endsAll(error: unknown): boolean {
  const { interrupted, unreachable } = exitCodes;
  return [interrupted, unreachable].some((code) => code === exitCodeOf(error));
}

/** With the exit code of the first failure. The summary is the JSON value, unless there is one. */
export function finish(run: Run, tally: Tally, isSummedUp: boolean): void {
  if (isJson()) printJson(jsonOf(tally));
  endTally(run, tally, isSummedUp);
}

function jsonOf({ verb, done, names, failures }: Tally): object {
  return { verb, done, failed: failures.length, names };
}

/** For who has printed another JSON value. */
export function endTally(run: Run, { verb, done, failures }: Tally, isSummedUp: boolean): void {
  const [first] = failures;
  if (first !== undefined) throw failureOf(first, `${done} ${verb}, ${failures.length} failed.`);
  if (isSummedUp && !run.isQuiet && !isJson()) printNote(`${done} ${verb}.`);
}
