// Compiles the programs of the pages with strict checks against the packages, and bundles them so
// that they run in a folder without node_modules.

import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import ts from 'typescript';
import { projectDir } from '../../tidy/source-tree.ts';
import type { Block } from './pages.ts';

const client = join(projectDir, 'packages/client/src');
const entrances: Readonly<Record<string, string>> = {
  '@encrypted-file-storage/client': join(client, 'index.ts'),
  '@encrypted-file-storage/client/candid': join(client, 'candid/file_storage.did.ts'),
  '@encrypted-file-storage/client/node': join(client, 'node/index.ts'),
  '@encrypted-file-storage/client/openapi.json': join(projectDir, 'docs/reference/openapi.json'),
  '@encrypted-file-storage/elements': join(projectDir, 'packages/elements/src/index.ts'),
  '@encrypted-file-storage/replica': join(projectDir, 'packages/replica/src/index.ts'),
  azle: join(projectDir, 'types/azle.d.ts'),
};

export function isProgram({ language }: Block): boolean {
  return language === 'ts' || language === 'js';
}

export function programOf(block: Block): string {
  const text = `${block.before ?? ''}\n${block.text}\nexport {};\n`;
  // Pages import some files by a path from the repository's root.
  return text.replaceAll("'/packages/", `'${projectDir}/packages/`);
}

/** Creates a compiler program from texts, by the names of files in the repository's folder. */
export function createTypedProgram(programs: ReadonlyMap<string, string>): ts.Program {
  const options: ts.CompilerOptions = {
    ...ts.readConfigFile(join(projectDir, 'tsconfig.json'), ts.sys.readFile).config.compilerOptions,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    isolatedModules: false,
    verbatimModuleSyntax: false,
    jsx: ts.JsxEmit.ReactJSX,
    paths: Object.fromEntries(Object.entries(entrances).map(([name, path]) => [name, [path]])),
  };
  const host = ts.createCompilerHost(options);
  const files = new Map([...programs].map(([name, text]) => [join(projectDir, name), text]));
  const { fileExists, getSourceFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.getSourceFile = (path, target, ...rest) => {
    const text = files.get(path);
    return text === undefined
      ? getSourceFile(path, target, ...rest)
      : ts.createSourceFile(path, text, target);
  };
  return ts.createProgram([...files.keys()], options, host);
}

/** Returns the compiler's errors in the programs, each with the program's name. */
export function typeErrors(programs: ReadonlyMap<string, string>): string[] {
  const program = createTypedProgram(programs);
  return [...programs].flatMap(([name, programText]) => {
    const path = join(projectDir, name);
    const source = program.getSourceFile(path);
    return [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ].map(({ file, start = 0, messageText }) => {
      const { line } = file?.getLineAndCharacterOfPosition(start) ?? { line: 0 };
      const text = programText.split('\n')[line] ?? '';
      return `${path}: ${ts.flattenDiagnosticMessageText(messageText, ' ')} in: ${text}`;
    });
  });
}

const installed: Plugin = {
  name: 'installed packages',
  setup({ onResolve }) {
    onResolve({ filter: /^@encrypted-file-storage\// }, ({ path }) => {
      const entrance = entrances[path];
      if (entrance === undefined) throw new Error(`${path} is not an entry point of a package`);
      return { path: entrance };
    });
  },
};

/** Bundles a program with all its imports into one module. */
export async function bundleProgram(text: string, platform: 'node' | 'browser'): Promise<string> {
  const result = await build({
    stdin: { contents: text, loader: 'ts', resolveDir: projectDir },
    bundle: true,
    write: false,
    format: 'esm',
    platform,
    target: 'es2022',
    logLevel: 'silent',
    plugins: [installed],
    ...(platform === 'node' && {
      banner: {
        js: "import { createRequire as of } from 'node:module'; const require = of(import.meta.url);",
      },
    }),
  });
  return result.outputFiles[0]?.text ?? '';
}
