// `efs verify`: whether a canister runs the code of a build, by a certificate of the network.

import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildCanister } from '../../scripts/build.ts';
import { readSections, withCustomSection, writeSections } from '../../scripts/wasm-sections.ts';
import { openService, type Service } from '../support/service.ts';
import { callCommand } from './command-calls.ts';

let service: Service;
let folder: string;
let wasm: Uint8Array;
let hash: string;
let efs: (...words: string[]) => ReturnType<typeof callCommand>;

beforeAll(async () => {
  service = await openService();
  folder = await mkdtemp(join(tmpdir(), 'efs-verify-'));
  const { wasmPath } = await buildCanister({ force: false });
  wasm = new Uint8Array(await readFile(wasmPath));
  hash = createHash('sha256').update(wasm).digest('hex');
  await writeFile(join(folder, 'build.wasm.gz'), wasm);
  // Nobody needs a right for this
  const environment = { EFS_HOST: service.host, EFS_CANISTER_ID: service.canisterId };
  efs = (...words) => callCommand(words, { folder, environment });
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('efs verify: the build that was installed, as a file or as its hash', async () => {
  const runs = await efs('verify', 'build.wasm.gz');
  expect(runs).toMatchObject({ code: 0 });
  expect(runs.output).toBe(
    `${service.canisterId} runs the code of build.wasm.gz: its module hash is ${hash}.\n`,
  );
  expect(runs.errors).toContain('These controllers can replace the code: ');
  expect((await efs('verify', hash.toUpperCase())).code).toBe(0);
  const json = JSON.parse((await efs('verify', '--json', hash)).output);
  expect(json).toMatchObject({ isSame: true, moduleHash: hash, expected: hash });
  expect(json.controllers).toHaveLength(1);
});

test('efs verify: a build with another byte', async () => {
  const changed = wasm.slice();
  changed[4_000] = (changed[4_000] ?? 0) ^ 1;
  await writeFile(join(folder, 'changed.wasm.gz'), changed);
  const runs = await efs('verify', 'changed.wasm.gz');
  expect(runs.code).toBe(1);
  expect(runs.errors).toContain(
    `${service.canisterId} runs other code than changed.wasm.gz: its module hash is ${hash}`,
  );
});

test('efs verify: a file that does not exist', async () => {
  const runs = await efs('verify');
  expect(runs.code).toBe(2);
  expect(runs.errors).toContain('There is no file build/file_storage.wasm.gz: run npm run build');
});

const commits = ['a', 'b'].map((digit) => digit.repeat(40)) as [string, string];

/** Returns the build as it would be from that commit. */
function namedBuild(commit: string): Buffer {
  const content = Buffer.from(commit);
  const sections = withCustomSection(readSections(gunzipSync(wasm)), {
    ...{ name: 'icp:public service:git:sha', content },
  });
  return gzipSync(writeSections(sections));
}

describe('efs verify: a canister that names its commit', () => {
  const [own, other] = commits;

  beforeAll(async () => {
    await service.network.upgrade(service.canisterId, namedBuild(own));
    await writeFile(join(folder, 'build.wasm.gz'), namedBuild(own));
  });

  const errorsOf = async (module: Uint8Array, node?: string) => {
    await writeFile(join(folder, 'build.wasm.gz'), module);
    const sha256 = createHash('sha256').update(module).digest('hex');
    await writeFile(join(folder, 'origin.json'), JSON.stringify({ sha256, node }));
    const { code, errors } = await efs('verify', 'build.wasm.gz');
    expect(code).toBe(1);
    return errors;
  };

  test('its own build is the same, and --json has the commit', async () => {
    const json = JSON.parse((await efs('verify', '--json', 'build.wasm.gz')).output);
    expect(json).toMatchObject({ isSame: true, commit: own });
  });

  test('a build of another commit, of another Node, and an altered one have a sentence each', async () => {
    expect(await errorsOf(namedBuild(other), process.version)).toContain(
      `The canister names the commit ${own} as its source, and the build ${other}: check out the ` +
        'former, and build again.',
    );
    const altered = Buffer.from(gunzipSync(namedBuild(own)));
    altered[5_000] = (altered[5_000] ?? 0) ^ 1;
    const build = gzipSync(altered);
    expect(await errorsOf(build, 'v27.1.0')).toContain(
      'The build was made with Node v27.1.0, and only Node 20, 22, 24, 26 are known to give the ' +
        'same bytes: build again with one of them.',
    );
    expect(await errorsOf(build, 'v22.22.1')).toContain(
      `Both name the commit ${own}: one of them was altered, or was built with other dependencies`,
    );
  });
});
