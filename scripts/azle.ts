// `tsx scripts/azle.ts NAME`: does the work of `azle build NAME` with Azle's own functions, but
// with a bundle that starts at a third of the cost: a canister parses and runs its source at
// install and upgrade.
//
//   1,900 M instructions   Azle's own bundle
//   1,080 M                without a polyfill of TextEncoder and TextDecoder, 680 kB, which
//                          src/actor/runtime/native-text.ts replaces before anything uses it;
//                          minified
//     790 M                within one function: QuickJS looks up names of a module's top level one
//                          by one, those of a function in a table
//     750 M                with the interface's text generated at build time
//     (-65 M)             with the curve library as a text, parsed when a root key is fetched
//
// Function names are kept, for 40 M, because the text of a trap names the functions of its stack.
// This script is a separate process, because Azle ships TypeScript sources that only tsx resolves.
// `tsx scripts/azle.ts NAME MODULE` passes the bundle through `changeBundle(source)` of that
// module; bench/profile.ts adds probes in this way.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';
import { writeInterface } from './interface.ts';

const projectDir = join(dirname(fileURLToPath(import.meta.url)), '..');
const azleBuild = join(projectDir, 'node_modules/azle/src/stable/build');

interface CanisterConfig {
  readonly main: string;
  readonly custom?: { readonly candid_gen?: string };
}

interface Context {
  readonly canisterPath: string;
  readonly candidPath: string;
  readonly main: string;
  readonly wasmBinaryPath: string;
  readonly wasmData: Readonly<Record<string, unknown>>;
}

interface MethodMeta {
  readonly candid: string;
  readonly methodMeta: unknown;
}

/** The parts of Azle 0.33's build that this script uses, in the order of its `runCommand`. */
interface AzleBuild {
  getCanisterConfig(name: string): Promise<CanisterConfig>;
  getContext(name: string, config: CanisterConfig): Promise<Context>;
  handleClassApiCanister(main: string): string;
  getBuildOptions(prelude: string, main: string): BuildOptions;
  bundle(options: BuildOptions): Promise<string>;
  getCandidAndMethodMeta(
    ...options: [string | undefined, string, string, 'pipe', unknown]
  ): Promise<MethodMeta>;
  getWasmBinary(io: 'pipe', source: string, ...rest: [unknown, unknown]): Promise<Uint8Array>;
}

async function loadAzle(): Promise<AzleBuild> {
  const modules = [
    'utils/get_canister_config.ts',
    'commands/build/get_context.ts',
    'commands/build/javascript.ts',
    'commands/build/candid_and_method_meta/index.ts',
    'commands/build/wasm_binary/index.ts',
  ];
  const loaded = await Promise.all(modules.map((path) => import(join(azleBuild, path))));
  return Object.assign({}, ...loaded) as AzleBuild;
}

/** Azle's globals import the polyfill; src/actor/runtime/native-text.ts replaces it. */
const withoutPolyfill: Plugin = {
  name: 'without the text polyfill',
  setup(build) {
    build.onResolve({ filter: /^@sinonjs\/text-encoding$/ }, ({ path }) => ({
      path,
      namespace: 'absent',
    }));
    build.onLoad({ filter: /.*/, namespace: 'absent' }, () => ({
      contents: 'export class TextEncoder {} export class TextDecoder {}',
    }));
  },
};

/**
 * Candid's library hashes each label of a record about ten times to sort it, at 30,000 instructions
 * each; once is enough.
 */
const withHashesKept: Plugin = {
  name: 'hashes of labels kept',
  setup(build) {
    build.onLoad({ filter: /@dfinity\/candid\/lib\/\w+\/utils\/hash\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const declaration = 'export function idlLabelToId(label) {';
      if (!source.includes(declaration)) throw new Error(`${path} has no ${declaration}`);
      const contents = `${source.replace(declaration, 'function hashLabel(label) {')}
        const known = new Map();
        export function idlLabelToId(label) {
          let id = known.get(label);
          if (id === undefined) known.set(label, (id = hashLabel(label)));
          return id;
        }`;
      return { contents, loader: 'js' };
    });
  },
};

/**
 * The curve library as texts that are parsed when first used. Each module that `src` imports has
 * its own text, because few calls need the pairing, whose setup costs 6,700 M instructions.
 */
const parsedWhenUsed: Plugin = {
  name: 'curves parsed when used',
  setup(build) {
    build.onResolve({ filter: /^@noble\/curves\// }, ({ path, importer }) =>
      importer.startsWith(join(projectDir, 'src')) ? { path, namespace: 'text' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'text' }, async ({ path }) => {
      const { plugins, stdin, ...options } = build.initialOptions;
      const { outputFiles } = await build.esbuild.build({
        ...options,
        entryPoints: [path],
        globalName: 'curves',
        write: false,
      });
      const text = `${outputFiles[0]?.text};return curves`;
      return { contents: `module.exports = new Function(${JSON.stringify(text)})();` };
    });
  },
};

/**
 * Replaces Azle's `getPrelude`, which is not exported. With `describing`, the bundle returns the
 * interface's types in place of Azle's text; the deployed bundle returns nothing.
 */
function prelude(azle: AzleBuild, main: string, describing: boolean): string {
  const run = describing
    ? `import { interfaceTypes as idlToString } from ${pathOf('scripts/interface-types.ts')};
      createGetCandidAndMethodMetaFunction(CanisterModule);`
    : `globalThis._azleDispatch({
        type: 'SET_AZLE_CANISTER_CLASS_META',
        payload: getCanisterClassMeta(CanisterModule),
        location: { filepath: 'scripts/azle.ts', functionName: 'prelude' }
      });`;
  return `
    import 'azle/_internal/globals';
    import { getDefaultVisitorData, IDL } from 'azle';
    import * as CanisterModule from ${pathOf(main)};
    ${run}
    ${azle.handleClassApiCanister(main)}`;
}

function pathOf(file: string): string {
  return JSON.stringify(join(projectDir, file));
}

function bundle(azle: AzleBuild, main: string, describing: boolean): Promise<string> {
  const options = azle.getBuildOptions(prelude(azle, main, describing), main);
  return azle.bundle({
    ...options,
    plugins: [...(options.plugins ?? []), withoutPolyfill, withHashesKept, parsedWhenUsed],
    format: 'iife',
    // Modules are named relative to this folder: the bundle is the same in any folder.
    absWorkingDir: projectDir,
    minifyWhitespace: true,
    minifySyntax: true,
  });
}

type BundleChange = (source: string) => string | Promise<string>;

async function buildWithAzle(name: string, change: BundleChange): Promise<void> {
  const azle = await loadAzle();
  const config = await azle.getCanisterConfig(name);
  const context = await azle.getContext(name, config);
  const { canisterPath, candidPath, main, wasmBinaryPath } = context;
  // Azle stores this path in the Wasm, as the bundle's name in stack traces. It would also store
  // its environment variables, with which the same commit would give other bytes.
  const wasmData = { ...context.wasmData, mainJsPath: 'main.js', envVars: [] };
  const [bundled, describingSource] = await Promise.all([
    bundle(azle, main, false),
    bundle(azle, main, true),
  ]);
  const source = await change(bundled);
  await rm(canisterPath, { recursive: true, force: true });
  await mkdir(canisterPath, { recursive: true });
  await writeFile(join(canisterPath, 'main.js'), source);
  const { candid, methodMeta } = await azle.getCandidAndMethodMeta(
    config.custom?.candid_gen,
    candidPath,
    describingSource,
    'pipe',
    wasmData,
  );
  await writeInterface(JSON.parse(candid), { projectDir, candid: candidPath });
  const wasm = await azle.getWasmBinary('pipe', source, wasmData, methodMeta);
  await writeFile(wasmBinaryPath, wasm);
}

const [name = '', changer] = process.argv.slice(2);
const unchanged: BundleChange = (source) => source;

try {
  const { changeBundle = unchanged } = changer === undefined ? {} : await import(changer);
  await buildWithAzle(name, changeBundle);
} catch (error) {
  // Node would print the line that threw, which in a bundled library is a megabyte long.
  console.error(error);
  process.exitCode = 1;
}
