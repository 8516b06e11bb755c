// The examples in docstrings (`@example`): the client's as one program that runs each of them, and
// those of the elements, which tests/elements runs in a browser.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../tidy/source-tree.ts';

const sources = join(projectDir, 'packages/client/src');
const elementSources = join(projectDir, 'packages/elements/src');

export interface Example {
  /** Relative to the sources' folder. */
  readonly file: string;
  /** The function or method that the docstring describes. */
  readonly name: string;
  readonly code: string;
}

const examplePattern =
  /@example\n *\* ```ts\n([\s\S]*?)\n *\* ```\n *\*\/\n *(?:export )?(?:async )?(?:function |const |type |readonly |class |get |set )?(\w+)/g;

export function readExamples(): Example[] {
  return examplesIn(sources);
}

export function readElementExamples(): Example[] {
  return examplesIn(elementSources);
}

function examplesIn(folder: string): Example[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8');
      return [...text.matchAll(examplePattern)].map(([, code = '', name = '']) => ({
        file,
        name,
        code: code.replaceAll(/^ *\* ?/gm, ''),
      }));
    });
}

/** These need a browser: they are compiled and not run. */
const browserOnly = /\b(?:xhrSender|browserIdentityStore|makeThumbnail)\(?/;

const startImports = [
  "import { readFile as readPem } from 'node:fs/promises';",
  "import * as node from '@encrypted-file-storage/client/node';",
];

/** The variables that the examples use: an owner's storage, a file with a former version, a service. */
const start = `
const service = node.createNodeServiceStorage({
  host: 'http://localhost:4943',
  front: '<front id>',
  identity: node.identityFromPem(await readPem('identity.pem', 'utf8')),
});
const ofVolume = node.createNodeStorage({
  host: 'http://localhost:4943',
  canisterId: '<canister id>',
  identity: node.identityFromPem(await readPem('identity.pem', 'utf8')),
  linkUrl: 'https://<canister id>.icp.net',
});
const storage: node.Storage = { ...ofVolume, buckets: service.buckets, access: service.access };
await storage.buckets.update('demo', { keepVersionsDays: 30 });
const volumeId = String((await service.volumes.list())[0]?.canisterId);

async function run(name: string, example: () => Promise<void>): Promise<void> {
  for (const text of ['former', 'hello']) {
    const source = new Blob([text], { type: 'text/plain' });
    await storage.upload(source, { bucket: 'demo', path: 'notes/hello.txt' });
  }
  await example().catch((cause) => {
    throw new Error(\`The example of \${name} fails\`, { cause });
  });
}
`;

/** Returns TypeScript with each example in a separate function. */
export function programOfExamples(examples: readonly Example[]): string {
  const imports = new Set<string>();
  const functions = examples.map(({ file, name, code }) => {
    const lines = code.split('\n');
    for (const line of lines.filter(isImport)) imports.add(line);
    const body = withoutImports(code);
    const words = `${JSON.stringify(`${file} ${name}`)}, async () => {\n${body}\n}`;
    return browserOnly.test(code) ? `[${words}];` : `await run(${words});`;
  });
  return [...startImports, ...mergedImports(imports), start, ...functions, 'export {};'].join('\n');
}

/** Returns TypeScript with each example of the elements in a block of its own. */
export function programOfElementExamples(examples: readonly Example[]): string {
  const start = 'declare const [url, putUrl, apiKey]: [string, string, string];';
  const blocks = examples.map(({ code }) => `{\n${withoutImports(code)}\n}`);
  return ["import '@encrypted-file-storage/elements';", start, ...blocks].join('\n');
}

export function withoutImports(code: string): string {
  const lines = code.split('\n');
  return lines.filter((line) => !isImport(line)).join('\n');
}

function isImport(line: string): boolean {
  return line.startsWith('import ');
}

/** Imports each name once: examples share a module, but both entry points export `endToEnd`. */
function mergedImports(lines: ReadonlySet<string>): string[] {
  const from = new Map<string, string>();
  for (const line of lines) {
    const [, names = '', module = ''] = /^import \{ (.*) \} from '(.*)';$/.exec(line) ?? [];
    for (const name of names.split(', ')) from.set(name, from.get(name) ?? module);
  }
  return [...from].map(([name, module]) => `import { ${name} } from '${module}';`);
}
