// Runs the command `efs` in a separate process and folder.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { projectDir } from '../tidy/source-tree.ts';

export interface Ended {
  /** Exit code, or undefined if a signal ended the process. */
  readonly code: number | undefined;
  readonly output: string;
  readonly errors: string;
}

export interface CommandRun {
  readonly process: ChildProcess;
  readonly ended: Promise<Ended>;
}

export interface CommandSettings {
  /** Working folder, which also contains the command's state and configuration. */
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
  /** Whether to execute the script by its first line (`#!`), which sets flags for Node. */
  readonly isExecuted?: boolean;
}

export function commandEnvironment(settings: CommandSettings): Record<string, string> {
  const { folder, environment } = settings;
  return {
    PATH: process.env.PATH ?? '',
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    ...environment,
  };
}

export function startCommand(words: readonly string[], settings: CommandSettings): CommandRun {
  const { folder, input, isExecuted = false } = settings;
  const efs = join(projectDir, 'packages/efs/bin/efs.js');
  const [program, ...before] = isExecuted ? [efs] : [process.execPath, efs];
  const child = spawn(program, [...before, ...words], {
    cwd: folder,
    env: commandEnvironment(settings),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input ?? new Uint8Array(0));
  let output = '';
  let errors = '';
  child.stdout.setEncoding('latin1').on('data', (text: string) => {
    output += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    errors += text.toString();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? undefined, output, errors }));
  });
  return { process: child, ended };
}

export function runCommand(words: readonly string[], settings: CommandSettings): Promise<Ended> {
  return startCommand(words, settings).ended;
}
