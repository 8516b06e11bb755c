// Flags of several commands, and the parsers of their values.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { isJson } from '../output/json-output.ts';
import { printNote } from '../output/output.ts';
import { type Configuration, type GlobalOptions, readConfiguration } from './config.ts';
import { type Run, startRun } from './run.ts';

export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

const byteUnits: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** Parses `10MB`, `1.5 GiB`, `4096`; 0 and `none` mean no limit. */
export function byteCount(text: string): number {
  if (text === 'none') return 0;
  const [, digits = '', unit = ''] = /^(\d{1,15}(?:\.\d{1,3})?) ?([a-z]{0,3})$/i.exec(text) ?? [];
  const bytes = Math.round(Number(digits) * (byteUnits[unit.toLowerCase()] ?? Number.NaN));
  if (digits !== '' && Number.isSafeInteger(bytes)) return bytes;
  throw new InvalidArgumentError(
    'It must be a number of bytes, such as 10MB, 1.5GiB, 4096 (kB, MB, GB, TB; KiB, MiB, GiB, TiB), or none.',
  );
}

const cycleUnits: Readonly<Record<string, number>> = { '': 1, g: 1e9, t: 1e12 };

/** Parses `2T`, `500G`, `0.5T` or a number of cycles. */
export function cycleCount(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,16}(?:\.\d{1,3})?)([gt]?)$/i.exec(text) ?? [];
  const cycles = Math.round(Number(digits) * (cycleUnits[unit.toLowerCase()] ?? 1));
  if (digits !== '' && Number.isSafeInteger(cycles)) return cycles;
  throw new InvalidArgumentError('It must be a number of cycles, such as 2T, 500G or 1500000000.');
}

/** Parses a count; 0 and `none` mean no limit. */
export function countOrNone(text: string): number {
  return text === 'none' ? 0 : wholeNumber(text);
}

/** Refuses line breaks: the text is stored as one line of a header. */
export function oneLine(text: string): string {
  if (/^[^\p{Cc}]*$/u.test(text)) return text;
  throw new InvalidArgumentError('It must be one line, without control characters.');
}

export function collect(value: string, former: readonly string[] = []): string[] {
  return [...former, value];
}

export interface PairsFlag {
  readonly pairs: Readonly<Record<string, string>>;
  /** Whether an earlier flag has removed the existing pairs. */
  readonly isAnew: boolean;
}

/** `former` is false after a flag that removes all pairs. */
export function collectPair(text: string, former?: PairsFlag | false): PairsFlag {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be name=value.');
  const pair = { [text.slice(0, at)]: text.slice(at + 1) };
  if (former === undefined) return { pairs: pair, isAnew: false };
  return former === false
    ? { pairs: pair, isAnew: true }
    : { pairs: { ...former.pairs, ...pair }, isAnew: former.isAnew };
}

const parallelDefault = 8;
/**
 * Concurrent downloads of many files, one request each: on the network 500 files of 5 kB took 30 s
 * with four at a time, 18 s with eight and 11 s with sixteen (bench/client-network.ts).
 */
export const fetchingParallelDefault = 16;

export const parallel = (byDefault = parallelDefault) =>
  new Option('-p, --parallel <n>', 'requests at a time, 1 to 32')
    .argParser(wholeNumber)
    .default(byDefault);
export const bypassGovernance = () =>
  new Option('--bypass-governance', 'also what is retained in governance mode; for owners');
export const json = () => new Option('--json', 'machine-readable output');
export const cacheControl = () =>
  new Option(
    '--cache-control <value>',
    'Cache-Control field to store and serve with the file',
  ).argParser(oneLine);

export function addFetchFlags(command: Command): Command {
  return command
    .addOption(parallel(fetchingParallelDefault))
    .option('--range <first-last>', 'only the bytes from first to last, such as 0-99 or 100-')
    .option('--resume', 'continue an interrupted transfer')
    .option('--no-verify', 'do not verify the digest')
    .addOption(json());
}

/** Starts a run with the flags before and after the command's name. */
export function runOf(command: Command): Run {
  const isQuiet = command.optsWithGlobals<GlobalOptions>().quiet === true || isJson();
  return startRun(configurationOf(command), isQuiet);
}

/** Returns the configuration and prints its notes. */
export function configurationOf(command: Command): Configuration {
  const flags = command.optsWithGlobals<GlobalOptions>();
  const configuration = readConfiguration(flags, process.env);
  if (!flags.quiet) for (const note of configuration.notes) printNote(`efs: ${note}`);
  return configuration;
}
