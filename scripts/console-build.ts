// Builds the console's page with Vite from `console/`, unless no source has changed.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const consoleDir = join(projectDir, 'console');
const outputDir = join(consoleDir, 'dist');
/** Kept outside of the served files. */
const stamp = join(projectDir, 'build', 'console.sha256');
const inputs = ['console/src', 'packages/client/src', 'packages/wire/src'];
const files = ['package-lock.json', 'console/index.html', 'console/vite.config.ts'];

/** Returns the folder with `index.html` and `assets/`. A needed build runs within `wrap`. */
export async function buildConsole(
  wrap: (work: () => Promise<void>) => Promise<void> = (work) => work(),
): Promise<string> {
  const digest = await digestOfInputs();
  const isBuilt = existsSync(join(outputDir, 'index.html')) && existsSync(stamp);
  if (isBuilt && (await readFile(stamp, 'utf8')) === digest) return outputDir;
  await wrap(runVite);
  await mkdir(dirname(stamp), { recursive: true });
  await writeFile(stamp, digest);
  return outputDir;
}

async function runVite(): Promise<void> {
  const vite = dirname(
    createRequire(join(consoleDir, 'package.json')).resolve('vite/package.json'),
  );
  // In a separate process, because Vite builds the working directory.
  const words = [join(vite, 'bin', 'vite.js'), 'build', '--logLevel', 'warn'];
  // In a test's environment, libraries would build with extra checks and become larger.
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, words, { cwd: consoleDir, env });
}

async function digestOfInputs(): Promise<string> {
  const found = await Promise.all(inputs.map((folder) => listFiles(join(projectDir, folder))));
  const names = [...found.flat(), ...files.map((name) => join(projectDir, name))].sort();
  const hash = createHash('sha256');
  for (const name of names)
    hash
      .update(`${name}\0`)
      .update(await readFile(name))
      .update('\0');
  return hash.digest('hex');
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
