// Bundles the sources into `dist/efs.js`, which starts in half the time of a TypeScript loader, and
// AWS's SDK into `dist/s3-sdk.js`, which only mirrors in S3 load. The package contains the bundles,
// but not this script.

import { existsSync, readdirSync, renameSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const projectDir = fileURLToPath(new URL('../../..', import.meta.url));
const folder = `${projectDir}packages/efs/`;
const bundle = `${folder}dist/efs.js`;
const sdkBundle = `${folder}dist/s3-sdk.js`;

export async function bundleWhenOlder() {
  if (!isFresh()) await writeBundle();
}

function isFresh() {
  if (!existsSync(bundle) || !existsSync(sdkBundle)) return false;
  const { mtimeMs } = statSync(bundle);
  const inFolders = ['wire/src', 'client/src', 's3/src', 'efs/src', 'efs/bin'].flatMap((folder) =>
    readdirSync(`${projectDir}packages/${folder}`, { recursive: true }).map(
      (name) => `packages/${folder}/${name}`,
    ),
  );
  const sources = [...inFolders, 'package-lock.json'];
  return sources.every((path) => statSync(projectDir + path).mtimeMs < mtimeMs);
}

/** The command is written last, because it loads the other file. */
export async function writeBundle() {
  // With `main`, esbuild would bundle all of the SDK's operations.
  const ofSdk = { mainFields: ['module', 'main'], minify: true };
  await write('src/mirror/s3/s3-sdk.ts', sdkBundle, ofSdk);
  await write('src/efs.ts', bundle, { minifyWhitespace: true, plugins: [separateSdk] });
}

const separateSdk = {
  name: 'separate SDK',
  setup({ onResolve }) {
    onResolve({ filter: /\/s3-sdk\.ts$/ }, () => ({ path: './s3-sdk.js', external: true }));
  },
};

async function write(source, path, options) {
  const { build } = await import('esbuild');
  const unfinished = `${path}.${process.pid}.js`;
  await build({
    entryPoints: [folder + source],
    outfile: unfinished,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Some packages are CommonJS.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    ...options,
  });
  renameSync(unfinished, path);
}
