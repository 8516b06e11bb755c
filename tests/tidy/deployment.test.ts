// The files that dfx and icp deploy from: valid by the schemas of the tools, and correct.

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ic0Interface } from '../../packages/replica/src/execution/ic0-table.ts';
import { createCompiler } from '../../packages/replica/src/wasm/compile.ts';
import { projectDir } from './source-tree.ts';

const frontArgument = '(opt record { role = opt variant { front } })';

function readText(name: string): string {
  return readFileSync(join(projectDir, name), 'utf8');
}

/** Returns the module that `npm run build` wrote and that a deployment tool would install. */
function builtModule(): Buffer {
  return readFileSync(join(projectDir, 'build/file_storage.wasm.gz'));
}

function validate(schemaName: string, document: unknown): unknown {
  const schema = JSON.parse(readText(`tests/schemas/${schemaName}`));
  const options = { strict: false, validateFormats: false, allErrors: true };
  const ajv = String(schema.$schema).includes('2020') ? new Ajv2020(options) : new Ajv(options);
  const check = ajv.compile(schema);
  return check(document) ? [] : check.errors;
}

describe('dfx.json', () => {
  const document = JSON.parse(readText('dfx.json'));

  test("is valid by dfx's schema", () => {
    expect(validate('dfx-json-schema.json', document)).toEqual([]);
    expect(validate('dfx-json-schema.json', { canisters: 1 })).not.toEqual([]);
  });

  test('names files that the build writes', () => {
    const { main, wasm, candid } = document.canisters.file_storage;
    expect([main, wasm, candid].map((path) => existsSync(join(projectDir, path)))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test('lets dfx install the built bytes unchanged', () => {
    const { type, wasm, ...rest } = document.canisters.file_storage;
    expect(type).toBe('custom');
    // With one of these, dfx decodes the module and encodes it differently.
    const rewriting = ['metadata', 'gzip', 'shrink', 'optimize', 'tech_stack', 'pullable'];
    expect(Object.keys(rest).filter((name) => rewriting.includes(name))).toEqual([]);
    expect(readFileSync(join(projectDir, wasm)).equals(builtModule())).toBe(true);
    expect(document.canisters.front).toMatchObject({ type, wasm, dependencies: ['file_storage'] });
    expect(document.canisters.front.init_arg).toBe(frontArgument);
  });

  test.each([
    ['ic', 'null'],
    ['local', 'opt "http://front-id.localhost:4943"'],
  ])("tells front and volume each other's ids on network %s", async (network, url) => {
    const folder = await mkdtemp(join(tmpdir(), 'deployment-'));
    try {
      // Stands for dfx: answers questions for ids and the port, and prints each call.
      const answers =
        '#!/bin/sh\ncase "$*" in "canister id "*) echo "$3-id";; info*) echo 4943;; ' +
        '*) printf "%s|" "$@"; echo;; esac\n';
      await writeFile(join(folder, 'dfx'), answers, { mode: 0o755 });
      const env = { ...process.env, DFX_NETWORK: network, PATH: `${folder}:${process.env.PATH}` };
      const [command] = document.canisters.front.post_install;
      const { stdout } = await promisify(execFile)(command, { cwd: projectDir, env });
      const setting = `(opt record { front = principal "front-id"; url = ${url} })`;
      expect(stdout.trim().split('\n')).toEqual([
        `canister|call|front|addVolume|(principal "file_storage-id")|--network|${network}|`,
        `canister|call|file_storage|setFront|${setting}|--network|${network}|`,
      ]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('the installed module', () => {
  test('has its interface in its metadata', () => {
    const { metadata } = createCompiler(ic0Interface)(builtModule(), 'built');
    const candid = metadata.get('candid:service');
    expect(candid?.isPublic).toBe(true);
    expect(Buffer.from(candid?.content ?? []).toString()).toBe(readText('candid/file_storage.did'));
  });
});

describe('icp.yaml', () => {
  const document = parse(readText('icp.yaml'));

  test("is valid by icp's schema", () => {
    expect(validate('icp-yaml-schema.json', document)).toEqual([]);
    expect(validate('icp-yaml-schema.json', { canisters: 1 })).not.toEqual([]);
  });

  test('has commands that put the built bytes where icp expects them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'deployment-'));
    const output = join(folder, 'module');
    try {
      const env = { ...process.env, ICP_WASM_OUTPUT_PATH: output };
      const [volume, front] = document.canisters;
      expect([volume.name, front.name]).toEqual(['file_storage', 'front']);
      expect(front.build).toEqual(volume.build);
      expect(front.init_args).toBe(frontArgument);
      for (const { type, commands } of volume.build.steps) {
        expect(type).toBe('script');
        for (const command of commands) {
          await promisify(execFile)('sh', ['-c', command], { cwd: projectDir, env });
        }
      }
      expect((await readFile(output)).equals(builtModule())).toBe(true);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('the bundle', () => {
  const source = gunzipSync(builtModule()).toString('latin1');

  test('contains no polyfill of text encodings and no module twice', () => {
    expect(source).not.toContain('gb18030');
    expect(source.split('_azleIc.stableBTreeMapInit(').length).toBe(2);
  });

  test('keeps the names of functions, so that a trap shows where it happened', () => {
    for (const name of ['commitFile', 'withOpenFile', 'idlLabelToId']) {
      expect(source).toContain(`function ${name}(`);
    }
  });
});
