// Runs the shell blocks of a page in order, in one shell, so variables and the working folder stay
// between blocks.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { notRun } from './not-run.ts';
import type { PageService } from './page-service.ts';

export interface ShellRun {
  readonly code: number;
  /** Standard output and errors, interleaved as on a terminal. */
  readonly output: string;
}

/** Splits a text into commands; a backslash at the end of a line continues the command. */
export function commandsOf(text: string): string[] {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

export function isNotRun(command: string): boolean {
  return notRun.some((entry) => command.trim().startsWith(entry.command));
}

export async function runShell(text: string, service: PageService): Promise<ShellRun> {
  const commands = service.fill(
    text
      .replaceAll(/\\\n\s*/g, ' ')
      .split('\n')
      .filter((line) => !isNotRun(line))
      .join('\n'),
  );
  const state = join(service.folder, 'shell-state');
  const script = [
    // Both streams go to one pipe, as on a terminal, so that their order is kept.
    'exec 2>&1',
    'set -ea -o pipefail',
    `if [ -f '${state}' ]; then . '${state}'; fi`,
    `trap 'code=$?; { export -p; echo "cd $PWD"; } > "${state}"; exit $code' EXIT`,
    commands,
  ].join('\n');
  const child = spawn('bash', ['-c', script], {
    cwd: service.folder,
    env: service.environment(),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  if (child.pid !== undefined) service.own(child.pid);
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? 1, output: service.blank(output) }));
  });
}

/** Returns a transcript's commands, each with its output. */
export function stepsOf(transcript: string): { command: string; printed: string }[] {
  const [, ...steps] = `\n${transcript.trimEnd()}\n`.split('\n$ ');
  return steps.map((step) => {
    const [command = '', ...lines] = step.trimEnd().split('\n');
    return { command, printed: lines.map((line) => `${line}\n`).join('') };
  });
}

/** A line `…` matches any lines, `…` within a line any text, and a time any time. */
export function outputPattern(expected: string): RegExp {
  const lines = expected.trimEnd() === '' ? [] : expected.trimEnd().split('\n');
  const parts = lines.map((line) => {
    if (line.trim() === '…') return '(?:.*\\n)*?';
    const escaped = line.trimEnd().split('…').map(literally).join('.*');
    return `${escaped.replaceAll(/\d{4}-\d\d-\d\d[T ][\d:]+/g, '\\d{4}-\\d\\d-\\d\\d[T ][\\d:]+')} *\\n`;
  });
  return new RegExp(`^${parts.join('')}$`);
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
