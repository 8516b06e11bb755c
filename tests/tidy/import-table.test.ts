// The import table of ARCHITECTURE.md. An import that is not in the table is forbidden.

import { describe, expect, test } from 'vitest';
import { readSources, type SourceFile } from './source-tree.ts';

const candidLibrary = ['@dfinity/candid', '@dfinity/principal'];
/** The current agent library: `/agent`, `/candid` and `/principal` are in one package. */
const agentLibrary = '@icp-sdk/core';
const wire = 'packages/wire/src';
const allOfSrc = [wire, 'src/lib', 'src/crypto', 'src/storage', 'src/domain', 'src/http'];

const belowDomain = [wire, 'src/lib', 'src/limits.ts', 'src/crypto', 'src/storage'];
/** Each folder may import those before it. */
const domainOrder =
  'shared keys contents buckets rights journal listing files uploads administration';

function domainFolders(count: number): string[] {
  return domainOrder
    .split(' ')
    .slice(0, count)
    .map((name) => `src/domain/${name}`);
}

const client = 'packages/client/src';
const belowClient = [wire, `${client}/storage-error.ts`];
/** The client's lower folders: each may import those before it. */
const clientOrder = 'bytes types operations connection links http';

function clientFolders(count: number): string[] {
  return clientOrder
    .split(' ')
    .slice(0, count)
    .map((name) => `${client}/${name}`);
}

/** Each folder may import those before it. */
const actorOrder = ['candid', 'runtime', 'messages', 'dispatch', 'methods'];

function actorFolders(count: number): string[] {
  const before = actorOrder.slice(0, count).map((name) => `src/actor/${name}`);
  const outside = ['src/certification', 'src/limits.ts', 'azle', ...candidLibrary];
  return [...allOfSrc, ...outside, ...before];
}

const efs = 'packages/efs/src';
/** Each folder may import those before it. */
const efsOrder =
  'output config transfers sync files upgrade mcp service sharing doctor journal mirror';

function efsFolders(count: number): string[] {
  const before = efsOrder.split(' ').slice(0, count);
  const ofWire = ['limits.ts', 'gateways.ts', 'metrics'].map((name) => `${wire}/${name}`);
  const outside = [...ofWire, 'packages/client/src', 'commander'];
  return ['node:', ...outside, ...before.map((name) => `${efs}/${name}`)];
}

/**
 * A module belongs to the longest row that its path begins with; a package includes its subpaths.
 */
const table: Readonly<Record<string, readonly string[]>> = {
  [wire]: [],
  'src/limits.ts': [`${wire}/limits.ts`],
  'src/lib': [wire],
  'src/crypto': [wire, 'src/lib', 'src/limits.ts', '@noble/curves'],
  'src/storage': [wire, 'src/lib', 'src/limits.ts', 'src/crypto/kernel.ts'],
  'src/storage/stable-map.ts': ['src/storage', 'azle'],
  'src/domain/shared': [...belowDomain],
  'src/domain/keys': [...belowDomain, ...domainFolders(1)],
  'src/domain/contents': [...belowDomain, ...domainFolders(2)],
  'src/domain/buckets': [...belowDomain, ...domainFolders(2)],
  'src/domain/rights': [...belowDomain, ...domainFolders(4)],
  'src/domain/journal': [...belowDomain, ...domainFolders(5)],
  'src/domain/listing': [...belowDomain, ...domainFolders(5)],
  'src/domain/files': [...belowDomain, ...domainFolders(7)],
  'src/domain/uploads': [...belowDomain, ...domainFolders(8)],
  'src/domain/administration': [...belowDomain, ...domainFolders(9)],
  // For the version number only.
  'src/domain/administration/bucket-status.ts': [wire, 'src/lib', 'src/domain', 'package.json'],
  'src/http': [
    '@dfinity/principal',
    wire,
    'src/lib',
    'src/limits.ts',
    'src/domain',
    'src/crypto/byte-search.ts',
    'src/crypto/hash.ts',
  ],
  'src/certification': [
    wire,
    'src/lib',
    'src/crypto/hash.ts',
    'src/crypto/kernel.ts',
    'src/storage',
  ],
  'src/actor/candid': actorFolders(0),
  'src/actor/runtime': actorFolders(1),
  'src/actor/messages': actorFolders(2),
  'src/actor/dispatch': actorFolders(3),
  'src/actor/methods': actorFolders(4),
  'src/index.ts': ['src/actor'],
  kernel: [],
  'packages/replica': [
    'node:',
    ...candidLibrary,
    '@noble/curves',
    '@noble/hashes',
    '@dfinity/response-verification',
    'cborg',
  ],
  'packages/client': [wire, agentLibrary],
  [`${client}/storage-error.ts`]: [wire],
  [`${client}/bytes`]: belowClient,
  [`${client}/bytes/sha256-software.ts`]: ['@noble/hashes'],
  [`${client}/types`]: [...belowClient, ...clientFolders(1), agentLibrary],
  [`${client}/operations`]: [...belowClient, ...clientFolders(2)],
  [`${client}/connection`]: [...belowClient, ...clientFolders(3), agentLibrary],
  [`${client}/links`]: [...belowClient, ...clientFolders(4)],
  [`${client}/http`]: [...belowClient, ...clientFolders(5)],
  [`${client}/actor`]: [...belowClient, ...clientFolders(6), `${client}/candid`, agentLibrary],
  [`${client}/downloads`]: [...belowClient, ...clientFolders(5)],
  [`${client}/uploads`]: [...belowClient, ...clientFolders(5)],
  [`${client}/files`]: [
    ...belowClient,
    ...clientFolders(5),
    `${client}/downloads`,
    `${client}/uploads`,
  ],
  [`${client}/administration`]: [...belowClient, ...clientFolders(4)],
  [`${client}/sealed-names`]: [
    ...belowClient,
    ...clientFolders(4),
    `${client}/files/remove-all.ts`,
  ],
  // Loaded at first use, like the agent.
  [`${client}/age`]: [
    ...belowClient,
    ...clientFolders(4),
    `${client}/links`,
    `${client}/downloads`,
    `${client}/files`,
    `${client}/administration`,
    `${client}/sealed-names`,
    'age-encryption',
    '@noble/ciphers',
    '@scure/base',
    '@dfinity/vetkeys',
  ],
  'packages/client/src/node': [
    'node:',
    'packages/client/src',
    agentLibrary,
    '@noble/hashes',
    'mime-types',
  ],
  'packages/elements': [wire, 'packages/client/src'],
  'packages/s3': ['node:', wire, 'packages/client/src', 'fast-xml-parser', 'hash-wasm'],
  // Command definitions, and shell completion for them.
  'packages/efs': efsFolders(12),
  [`${efs}/output`]: efsFolders(0),
  [`${efs}/config`]: efsFolders(1),
  [`${efs}/transfers`]: [...efsFolders(2), 'picomatch'],
  [`${efs}/sync`]: efsFolders(3),
  [`${efs}/files`]: [...efsFolders(4), 'sharp'],
  [`${efs}/upgrade`]: efsFolders(5),
  [`${efs}/mcp`]: [...efsFolders(6), '@modelcontextprotocol/sdk', 'zod'],
  [`${efs}/service`]: [...efsFolders(7), 'packages/s3/src'],
  [`${efs}/sharing`]: efsFolders(8),
  [`${efs}/doctor`]: efsFolders(9),
  [`${efs}/journal`]: efsFolders(10),
  [`${efs}/mirror`]: [...efsFolders(11), '@aws-sdk/client-s3'],
  // The console's bundle contains only the client modules that it imports, so it never contains
  // Node's entry.
  console: [
    'packages/wire/src/gateways.ts',
    'packages/client/src',
    'preact',
    '@preact/signals',
    '@icp-sdk/auth',
    agentLibrary,
    'client-zip',
    'marked',
    'papaparse',
    'uqr',
  ],
  'console/vite.config.ts': ['vite', 'node:', 'console/src/language.ts'],
  scripts: [
    'node:',
    'mime-types',
    'packages/replica',
    ...candidLibrary,
    'assemblyscript',
    'binaryen',
    'esbuild',
    'typescript',
    '@icp-sdk/bindgen',
  ],
  // The OpenAPI file is generated from the routes; types of the service name the fields of records.
  'scripts/judge.ts': ['node:', 'tests/support/network'],
  'scripts/openapi': ['node:', wire, 'src/http', 'src/domain', 'src/limits.ts', 'package.json'],
  // Texts about the interface for programs, with its limits.
  'scripts/descriptions': ['node:', wire, 'src/limits.ts'],
  // The build runs it in the canister's engine.
  'scripts/interface-types.ts': ['src/actor', ...candidLibrary],
  bench: [
    'node:',
    'tests/support',
    'tests/console/support',
    'packages/client/src',
    'packages/replica/src',
    'scripts',
    'src/crypto',
    ...candidLibrary,
    'binaryen',
    'playwright-core',
    'typescript',
    '@icp-sdk/core',
  ],
};

function moduleOf(path: string): string | undefined {
  return Object.keys(table)
    .filter((row) => path === row || path.startsWith(`${row}/`))
    .sort((left, right) => right.length - left.length)[0];
}

function isWithin(name: string, allowed: string): boolean {
  return name === allowed || name.startsWith(allowed.endsWith(':') ? allowed : `${allowed}/`);
}

function forbiddenImports(file: SourceFile): string[] {
  const row = moduleOf(file.path);
  const allowed = row === undefined ? [] : [row, ...(table[row] ?? [])];
  return file.imports
    .filter((name) => !allowed.some((entry) => isWithin(name, entry)))
    .map((name) => `${file.path} imports ${name}`);
}

function findCycle(files: readonly SourceFile[]): string[] | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const finished = new Set<string>();
  function visit(path: string, trail: readonly string[]): string[] | undefined {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (finished.has(path)) return undefined;
    for (const next of byPath.get(path)?.imports ?? []) {
      const cycle = byPath.has(next) ? visit(next, [...trail, path]) : undefined;
      if (cycle !== undefined) return cycle;
    }
    finished.add(path);
    return undefined;
  }
  for (const { path } of files) {
    const cycle = visit(path, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

describe('the import table', () => {
  const sources = readSources();

  test('allows every existing import', () => {
    const governed = sources.filter(({ path }) => !path.startsWith('tests/'));
    expect(governed.flatMap(forbiddenImports)).toEqual([]);
  });

  test('covers every module outside the tests', () => {
    const homeless = sources.filter(({ path }) => !path.startsWith('tests/') && !moduleOf(path));
    expect(homeless.map(({ path }) => path)).toEqual([]);
  });

  test('allows no cycle', () => {
    expect(findCycle(sources)).toBeUndefined();
  });

  test('finds forbidden imports', () => {
    const file = { path: 'src/domain/x.ts', lines: [], imports: ['azle', 'src/http/router.ts'] };
    expect(forbiddenImports(file)).toHaveLength(2);
  });
});
