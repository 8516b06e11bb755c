// Finds the commit whose sources a build uses: the last one that changed any of them. So the module
// that names it is the same for all later commits that leave the sources as they are.

import { execFile } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Paths of all inputs of the module. */
const inputs = [
  ...['package.json', 'package-lock.json', 'dfx.json', 'tsconfig.json'],
  ...['scripts', 'src', 'kernel', 'console', 'packages/wire', 'packages/client'],
];

export interface SourceCommit {
  /** 40 hexadecimal digits; undefined: the sources are not those of a known commit. */
  readonly commit: string | undefined;
  /** Says why no commit is known; empty if one is. */
  readonly reason: string;
}

const unknown = (reason: string): SourceCommit => ({ commit: undefined, reason });

/** `EFS_COMMIT` names the commit of a copy without git; empty: none. */
export async function sourceCommit(
  projectDir: string,
  named: string | undefined = process.env.EFS_COMMIT,
): Promise<SourceCommit> {
  if (named === '') return unknown('EFS_COMMIT is empty');
  if (named !== undefined && !/^[0-9a-f]{40}$/.test(named)) {
    throw new Error(`EFS_COMMIT must have 40 hexadecimal digits; got "${named}".`);
  }
  if (named !== undefined) return { commit: named, reason: '' };
  const git = async (...words: string[]) => {
    const { stdout } = await promisify(execFile)('git', ['-C', projectDir, ...words]);
    return stdout.trim();
  };
  try {
    const root = await git('rev-parse', '--show-toplevel');
    if ((await realpath(root)) !== (await realpath(projectDir))) return unknown('it is no clone');
    if ((await git('rev-parse', '--is-shallow-repository')) === 'true') {
      return unknown('the clone is shallow: run git fetch --unshallow');
    }
    const changes = await git('status', '--porcelain', '--', ...inputs);
    if (changes !== '') return unknown('the sources have changes that no commit has');
    return { commit: await git('log', '-1', '--format=%H', '--', ...inputs), reason: '' };
  } catch {
    return unknown('git is missing, or the folder is no clone');
  }
}
