// `npm run packages`: builds the published packages and packs each into build/packages. Code of
// other packages of the workspace is bundled: packages/wire, in `elements` parts of the client, and
// in `efs` the client and s3.

import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import { openApiText } from './openapi/document.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const packagesDir = join(projectDir, 'packages');
const tarballsDir = join(projectDir, 'build', 'packages');

const common = {
  bundle: true,
  format: 'esm',
  splitting: true,
  packages: 'external',
  // Keeps names readable in stack traces; the bundlers of users minify the code.
  minify: false,
  logLevel: 'warning',
} satisfies BuildOptions;

const published = ['client', 'elements', 'efs', 'replica'] as const;
type PackageName = (typeof published)[number];

const builders: Readonly<Record<PackageName, () => Promise<void>>> = {
  client: buildClient,
  elements: buildElements,
  efs: buildCommand,
  replica: buildReplica,
};

async function buildClient(): Promise<void> {
  const folder = await emptyDist('client');
  const entryPoints = {
    index: join(folder, 'src/index.ts'),
    node: join(folder, 'src/node/index.ts'),
    candid: join(folder, 'src/candid/file_storage.did.ts'),
  };
  const neutral = { ...common, platform: 'neutral', target: 'es2022' } as const;
  await build({ ...neutral, entryPoints, outdir: join(folder, 'dist') });
  await build({
    ...neutral,
    entryPoints: { index: entryPoints.index },
    outdir: join(folder, 'dist/react-native'),
    plugins: [softwareHash(folder)],
  });
  await writeFile(join(folder, 'dist/openapi.json'), await openApiText());
  await writeTypes(folder);
}

/** `elements.min.js` is for pages without a bundler. */
async function buildElements(): Promise<void> {
  const folder = await emptyDist('elements');
  const entry = join(folder, 'src/index.ts');
  const browser = { ...common, splitting: false, platform: 'browser', target: 'es2022' } as const;
  for (const [name, minify] of [
    ['index.js', false],
    ['elements.min.js', true],
  ] as const) {
    const outfile = join(folder, 'dist', name);
    await build({ ...browser, entryPoints: [entry], outfile, minify });
  }
  await writeTypes(folder);
}

/** React Native has no Web Crypto. */
function softwareHash(folder: string): Plugin {
  return {
    name: 'software hash',
    setup({ onResolve }) {
      const path = join(folder, 'src/bytes/sha256-software.ts');
      onResolve({ filter: /\/sha256\.ts$/ }, () => ({ path }));
    },
  };
}

/** Replaces the former bundle atomically, because it may be running. */
async function buildCommand(): Promise<void> {
  const folder = join(packagesDir, 'efs');
  await copyFile(join(projectDir, 'LICENSE'), join(folder, 'LICENSE'));
  const launcher = pathToFileURL(join(folder, 'bin/bundle.js')).href;
  const { writeBundle } = (await import(launcher)) as { writeBundle: () => Promise<void> };
  await writeBundle();
}

async function buildReplica(): Promise<void> {
  const folder = await emptyDist('replica');
  await build({
    ...common,
    platform: 'node',
    target: 'node20',
    entryPoints: {
      index: join(folder, 'src/index.ts'),
      command: join(folder, 'src/command/main.ts'),
      // A worker, loaded by name from the folder of the module that starts it.
      'verifier-thread': join(folder, 'src/gateway/verifier-thread.ts'),
    },
    outdir: join(folder, 'dist'),
  });
  await writeTypes(folder);
}

async function emptyDist(name: PackageName): Promise<string> {
  const folder = join(packagesDir, name);
  await rm(join(folder, 'dist'), { recursive: true, force: true });
  await copyFile(join(projectDir, 'LICENSE'), join(folder, 'LICENSE'));
  return folder;
}

async function writeTypes(folder: string): Promise<void> {
  const compiler = join(projectDir, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, '-p', join(folder, 'tsconfig.json')]);
}

/** Returns the paths of the tarballs. */
export async function packAll(): Promise<Readonly<Record<PackageName, string>>> {
  await rm(tarballsDir, { recursive: true, force: true });
  await mkdir(tarballsDir, { recursive: true });
  const paths: Partial<Record<PackageName, string>> = {};
  for (const name of published) {
    await builders[name]();
    const words = ['pack', '--json', '--pack-destination', tarballsDir];
    const [packed] = JSON.parse(await run('npm', words, join(packagesDir, name))) as [
      { filename: string },
    ];
    paths[name] = join(tarballsDir, packed.filename);
  }
  return paths as Readonly<Record<PackageName, string>>;
}

async function run(program: string, words: readonly string[], cwd = projectDir): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...words], { cwd });
  return stdout;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const path of Object.values(await packAll())) console.log(path);
}
