// Bundles the sources into `dist/efs.js`, one file that starts in half the time of a TypeScript
// loader. The package contains the bundle, but not this script.

import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const projectDir = fileURLToPath(new URL('../../..', import.meta.url));
const bundle = `${projectDir}packages/efs/dist/efs.js`;

export async function bundleWhenOlder() {
  if (!isFresh()) await writeBundle();
}

function isFresh() {
  if (!existsSync(bundle)) return false;
  const { mtimeMs } = statSync(bundle);
  const inFolders = ['wire/src', 'client/src', 's3/src', 'efs/src', 'efs/bin'].flatMap((folder) =>
    readdirSync(`${projectDir}packages/${folder}`, { recursive: true }).map(
      (name) => `packages/${folder}/${name}`,
    ),
  );
  const sources = [...inFolders, 'package-lock.json'];
  return sources.every((path) => statSync(projectDir + path).mtimeMs < mtimeMs);
}

export async function writeBundle() {
  const { build } = await import('esbuild');
  const unfinished = `${bundle}.${process.pid}.js`;
  await build({
    entryPoints: [`${projectDir}packages/efs/src/efs.ts`],
    outfile: unfinished,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minifyWhitespace: true,
    // Some packages are CommonJS.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  renameSync(unfinished, bundle);
}
