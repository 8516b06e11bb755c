// Installs the packed packages with npm in an empty folder outside the repository.

import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packAll } from '../../scripts/packages.ts';

export interface Installation {
  readonly folder: string;
  /** Returns the program's standard output; rejects if its exit code is not 0. */
  run(program: string, words: readonly string[]): Promise<string>;
  write(name: string, text: string): Promise<void>;
  remove(): Promise<void>;
}

interface Wish {
  /** The package.json of the empty folder. */
  readonly manifest?: object;
  /** Further packages of the registry. */
  readonly others?: readonly string[];
}

export async function installPackages({
  manifest = {},
  others = [],
}: Wish = {}): Promise<Installation> {
  const tarballs = Object.values(await packAll());
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'efs-installed-')));
  const run = async (program: string, words: readonly string[]) => {
    const { stdout } = await promisify(execFile)(program, [...words], { cwd: folder });
    return stdout;
  };
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  const usual = { name: 'stranger', private: true, type: 'module' };
  await write('package.json', JSON.stringify({ ...usual, ...manifest }));
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  await run('npm', ['install', ...flags, ...tarballs, ...others]);
  return { folder, run, write, remove: () => rm(folder, { recursive: true, force: true }) };
}
