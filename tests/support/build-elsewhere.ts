// Builds the canister from a copy of the sources in another folder, as another checkout would.

import { execFile } from 'node:child_process';
import {
  copyFile,
  cp,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
} from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { sourceCommit } from '../../scripts/source-commit.ts';
import { projectDir } from '../tidy/source-tree.ts';

const copied = ['src', 'kernel', 'packages', 'console', 'scripts', 'candid', 'types'];
const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'dfx.json'];
const made = new Set(['node_modules', 'dist', 'build']);

/** Returns the bytes of the module that a build in `folder` writes. Removes the folder afterwards. */
export async function buildElsewhere(
  folder: string,
  options: { readonly reusesKernel: boolean },
): Promise<Uint8Array> {
  try {
    await copySources(folder);
    if (options.reusesKernel) {
      await cp(join(projectDir, 'build/cache'), join(folder, 'build/cache'), { recursive: true });
    }
    const tsx = join(projectDir, 'node_modules/tsx/dist/cli.mjs');
    // The copy has no history, so the commit is named.
    const { commit = '' } = await sourceCommit(projectDir);
    await promisify(execFile)(process.execPath, [tsx, 'scripts/build.ts', '--force'], {
      cwd: folder,
      env: { ...process.env, EFS_COMMIT: commit },
    });
    return new Uint8Array(await readFile(join(folder, 'build/file_storage.wasm.gz')));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copySources(folder: string): Promise<void> {
  const isSource = (path: string) =>
    !relative(projectDir, path)
      .split(sep)
      .some((name) => made.has(name));
  for (const name of [...copied, ...files]) {
    await cp(join(projectDir, name), join(folder, name), { recursive: true, filter: isSource });
  }
  // The build writes the reference of the actor here, and reads the description of the interface.
  await mkdir(join(folder, 'docs/reference'), { recursive: true });
  const description = 'docs/reference/openapi.json';
  await copyFile(join(projectDir, description), join(folder, description));
  for (const name of ['node_modules', 'console/node_modules']) {
    await linkFolder(join(projectDir, name), join(folder, name));
  }
}

/**
 * Uses hard links, which take a second. Links to folders would not work: Vite resolves them, and
 * orders modules by their real paths.
 */
async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkFolder(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await link(source, target).catch(() => copyFile(source, target));
  }
}
