// Flags that several commands have, and how their values are read.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Configuration, type GlobalOptions, readConfiguration } from './config.ts';
import { printNote } from './output.ts';
import { type Run, startRun } from './run.ts';

export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

export function collect(value: string, former: readonly string[] = []): string[] {
  return [...former, value];
}

export interface PairsFlag {
  readonly pairs: Readonly<Record<string, string>>;
  /** A flag before them has taken away what is there. */
  readonly isAnew: boolean;
}

/** `former` is false after a flag that takes all away. */
export function collectPair(text: string, former?: PairsFlag | false): PairsFlag {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be name=value.');
  const pair = { [text.slice(0, at)]: text.slice(at + 1) };
  if (former === undefined) return { pairs: pair, isAnew: false };
  return former === false
    ? { pairs: pair, isAnew: true }
    : { pairs: { ...former.pairs, ...pair }, isAnew: former.isAnew };
}

const parallelDefault = 4;

export const parallel = () =>
  new Option('-p, --parallel <n>', 'requests at a time, 1 to 32')
    .argParser(wholeNumber)
    .default(parallelDefault);
export const json = () => new Option('--json', 'machine-readable output');
export const cacheControl = () =>
  new Option('--cache-control <value>', 'stored and served with the file');

/** The run that the flags describe, whichever side of the command's name they are on. */
export function runOf(command: Command): Run {
  const configuration = configurationOf(command);
  return startRun(configuration, command.optsWithGlobals<GlobalOptions>().quiet === true);
}

/** Tells the user what is to be known of it. */
export function configurationOf(command: Command): Configuration {
  const flags = command.optsWithGlobals<GlobalOptions>();
  const configuration = readConfiguration(flags, process.env);
  if (!flags.quiet) for (const note of configuration.notes) printNote(`efs: ${note}`);
  return configuration;
}
