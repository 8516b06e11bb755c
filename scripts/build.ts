// `npm run build`: Azle bundles src/ into its canister template, the native kernel is merged into
// the result, and the interface is added as metadata. Skipped if no input has changed (--force
// builds anyway).

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { withLock } from './build-lock.ts';
import { descriptions, packPages } from './console.ts';
import { buildConsole } from './console-build.ts';
import { interfaceOutputs } from './interface.ts';
import { buildKernel } from './kernel.ts';
import { mergeKernel } from './merge-wasm.ts';
import { type SourceCommit, sourceCommit } from './source-commit.ts';
import { readSections, withCustomSection, writeSections } from './wasm-sections.ts';

const canisterName = 'file_storage';
const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const outputs = {
  wasm: join(projectDir, 'build', `${canisterName}.wasm.gz`),
  candid: join(projectDir, 'candid', `${canisterName}.did`),
  stamp: join(projectDir, 'build', 'inputs.sha256'),
  /** The Node of the build and the hash of the module, which `efs verify` reads. */
  origin: join(projectDir, 'build', 'origin.json'),
  lock: join(projectDir, 'build', 'lock'),
};
/** Scripts that affect the result. */
const scripts = [
  'actor-reference',
  'azle',
  'build',
  'client-interface',
  'console',
  'interface',
  'interface-comments',
  'interface-text',
  'interface-types',
  'kernel',
  'merge-wasm',
  'merged-data',
  'sha256-rounds',
  'source-commit',
  'wasm-sections',
];

export interface BuildResult {
  /** The compressed module. Everybody installs these bytes: a release has one module hash. */
  readonly wasmPath: string;
  readonly wasSkipped: boolean;
}

export interface BuildOptions {
  /** Builds even if no input has changed. */
  readonly force: boolean;
  /** Called with a description of each step at its beginning and end. */
  readonly onStep?: (step: string) => void;
}

/** Builds the module unless it is up to date; waits for another process that builds it. */
export async function buildCanister(options: BuildOptions): Promise<BuildResult> {
  await mkdir(dirname(outputs.lock), { recursive: true });
  const onWait = (holder: number) =>
    options.onStep?.(`Waiting for process ${holder}, which builds (${outputs.lock}) …`);
  return withLock({ path: outputs.lock, onWait }, () => buildAlone(options));
}

async function buildAlone(options: BuildOptions): Promise<BuildResult> {
  const told = stepsTo(options.onStep ?? (() => {}));
  const ownConsole = () => buildConsole((work) => told('Building the console', work));
  const source = await sourceCommit(projectDir);
  const inputs = await digestOfInputs(await ownConsole(), source);
  if (!options.force && (await isUpToDate(inputs))) {
    return { wasmPath: outputs.wasm, wasSkipped: true };
  }
  const [canister, kernel] = await Promise.all([
    told('Bundling the canister', () => bundleWithAzle()),
    told('Compiling the kernel', buildKernel),
  ]);
  // The console is built again if the interface has changed, because it includes its module.
  const pages = await ownConsole();
  const data = await packPages(pages, projectDir);
  const merged = await told('Merging the two', () => mergeKernel({ canister, kernel, data }));
  if (source.commit === undefined) {
    options.onStep?.(`The module names no commit, because ${source.reason}.`);
  }
  const metadata = await ownMetadata(source);
  const sections = Object.entries(metadata).reduce(
    (before, [name, text]) =>
      withCustomSection(before, { name: `icp:public ${name}`, content: Buffer.from(text) }),
    readSections(merged),
  );
  // The header of Node's gzip has no time: the same input gives the same bytes.
  const wasm = gzipSync(writeSections(sections), { level: 9 });
  const sha256 = createHash('sha256').update(wasm).digest('hex');
  await writeFile(outputs.wasm, wasm);
  await writeFile(outputs.origin, JSON.stringify({ sha256, node: process.version }));
  await writeFile(outputs.stamp, await digestOfInputs(pages, source));
  return { wasmPath: outputs.wasm, wasSkipped: false };
}

/**
 * Returns the public metadata of the module by name. Sources outside of a commit have no
 * `service:git:sha`, and without a repository in package.json there is no `service:git:origin`.
 */
async function ownMetadata({ commit }: SourceCommit): Promise<Record<string, string>> {
  const text = await readFile(join(projectDir, 'package.json'), 'utf8');
  const { version, repository } = JSON.parse(text) as {
    readonly version: string;
    readonly repository?: string;
  };
  return {
    'candid:service': await readFile(outputs.candid, 'utf8'),
    'efs:version': version,
    'service:version': version,
    ...(commit !== undefined && { 'service:git:sha': commit }),
    ...(repository !== undefined && { 'service:git:origin': repository }),
  };
}

/** Reports each step, because a build takes a minute or two on a slow machine. */
function stepsTo(say: (step: string) => void) {
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    say(`${name} …`);
    const result = await work();
    say(`${name}: done in ${((performance.now() - started) / 1_000).toFixed(1)} s.`);
    return result;
  };
}

/** Returns the digest of all inputs: commit, sources, scripts, dependencies, the built console. */
async function digestOfInputs(pages: string, { commit }: SourceCommit): Promise<string> {
  const hash = createHash('sha256').update(`${commit}\0`);
  const names = ['package.json', 'package-lock.json', 'dfx.json', 'tsconfig.json'];
  names.push(...descriptions, ...scripts.map((name) => `scripts/${name}.ts`));
  for (const folder of ['src', 'kernel', 'packages/wire/src', relative(projectDir, pages)]) {
    names.push(...(await listFiles(folder)));
  }
  for (const name of names.sort()) {
    hash
      .update(`${name}\0`)
      .update(await readFile(join(projectDir, name)))
      .update('\0');
  }
  return hash.digest('hex');
}

async function isUpToDate(inputs: string): Promise<boolean> {
  const written = Object.values(interfaceOutputs).map((path) => join(projectDir, path));
  const isComplete = [...Object.values(outputs), ...written].every((path) => existsSync(path));
  return isComplete && (await readFile(outputs.stamp, 'utf8')) === inputs;
}

/** `changer`: a module whose `changeBundle(source)` changes the bundle, see azle.ts. */
export async function bundleWithAzle(changer?: string): Promise<Uint8Array> {
  const tsx = join(projectDir, 'node_modules', 'tsx/dist/cli.mjs');
  const script = join(projectDir, 'scripts', 'azle.ts');
  await promisify(execFile)(
    process.execPath,
    [tsx, script, canisterName, ...(changer === undefined ? [] : [changer])],
    {
      cwd: projectDir,
      env: { ...process.env, AZLE_DFX_ROOT: projectDir, CANISTER_CANDID_PATH: outputs.candid },
    },
  );
  return readFile(join(projectDir, '.azle', canisterName, `${canisterName}.wasm`));
}

async function listFiles(folder: string): Promise<string[]> {
  const options = { withFileTypes: true, recursive: true } as const;
  const entries = await readdir(join(projectDir, folder), options);
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => relative(projectDir, join(entry.parentPath, entry.name)));
}

async function main(): Promise<void> {
  const started = performance.now();
  const { wasSkipped } = await buildCanister({
    force: process.argv.includes('--force'),
    onStep: (step) => console.log(step),
  });
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(
    wasSkipped ? 'Nothing has changed.' : `Built build/file_storage.wasm.gz in ${seconds} s.`,
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await main();
}
