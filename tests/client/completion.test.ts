// `efs completion`: bash loads the output, and completes commands, subcommands, and flags.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callCommand } from './command-calls.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'efs-completion-'));
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { output, code } = await callCommand(['completion', shell], { folder });
    expect(code).toBe(0);
    await writeFile(join(folder, shell), output, 'latin1');
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const isThere = (shell: string) => spawnSync(shell, ['--version']).status === 0;

/** Returns the completions of the last word of a line. */
function completed(...line: string[]): string[] {
  const words = ['efs', ...line].map((word) => `'${word}'`).join(' ');
  const program =
    `source ./bash; COMP_WORDS=(${words}); COMP_CWORD=${line.length}; _efs; ` +
    `printf "%s\\n" "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', program], { cwd: folder, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
}

describe.runIf(isThere('bash'))('efs completion: bash', () => {
  test('completes commands and subcommands', () => {
    expect(completed('sy')).toEqual(['sync']);
    expect(completed('bucket', 'cr')).toEqual(['create']);
    expect(completed('-q', 'versions', 're')).toEqual(['restore']);
    expect(completed('')).toEqual(expect.arrayContaining(['put', 'get', 'sync', 'completion']));
  });

  test('completes the flags of a command and the global ones', () => {
    expect(completed('sync', '--max')).toEqual(['--max-delete']);
    expect(completed('sync', 'a', 'b', '--dry')).toEqual(['--dry-run']);
    expect(completed('bucket', 'set', 'x', '--quota-')).toEqual(['--quota-files']);
    expect(completed('get', '--time')).toEqual(['--timeout']);
    expect(completed('get', '--max')).toEqual([]);
  });

  test('leaves file names to bash', () => {
    expect(completed('put', 'fi')).toEqual([]);
  });
});

test.runIf(isThere('zsh'))('efs completion: zsh accepts the script', () => {
  expect(spawnSync('zsh', ['-n', join(folder, 'zsh')]).status).toBe(0);
});

test.runIf(isThere('fish'))('efs completion: fish accepts the script', () => {
  expect(spawnSync('fish', ['-n', join(folder, 'fish')]).status).toBe(0);
});

test('efs completion: an unknown shell is a usage error that lists the known ones', async () => {
  const ended = await callCommand(['completion', 'tcsh'], { folder });
  expect(ended.code).toBe(2);
  expect(ended.errors).toContain('bash, zsh, fish');
});
