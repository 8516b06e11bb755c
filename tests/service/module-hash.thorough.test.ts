// A commit has one module hash, in any folder and with any way of installation.

import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildCanister } from '../../scripts/build.ts';
import { buildElsewhere } from '../support/build-elsewhere.ts';
import { openService, type Service, sha256Hex } from '../support/service.ts';

let service: Service;
let builtHash: string;

beforeAll(async () => {
  service = await openService({});
  const { wasmPath } = await buildCanister({ force: false });
  builtHash = sha256Hex(await readFile(wasmPath));
});
afterAll(() => service?.stop());

test('npm start installs the bytes of build/file_storage.wasm.gz', async () => {
  const canisters = service.replica?.canisters() ?? [];
  const found = canisters.find(({ id }) => id.toText() === service.canisterId);
  expect(Buffer.from(found?.moduleHash ?? []).toString('hex')).toBe(builtHash);
});

// tests/soak/module-hash.test.ts also compiles the kernel, which takes ten times as long.
test('npm run build in a deep folder with a space in its name writes the same module', async () => {
  const root = await mkdtemp(join(tmpdir(), 'efs build '));
  const wasm = await buildElsewhere(join(root, 'a/deep/er/folder'), { reusesKernel: true });
  expect(sha256Hex(wasm)).toBe(builtHash);
}, 600_000);
