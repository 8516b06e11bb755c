// Whole builds in folders of other depths, including the kernel.

import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildCanister } from '../../scripts/build.ts';
import { buildElsewhere } from '../support/build-elsewhere.ts';
import { sha256Hex } from '../support/service.ts';

/** The root of the file system may be read-only: depth 2 replaces depth 1 there. */
const newFolder = (parent: string) => mkdtemp(join(parent, 'efs build '));

test.each([
  ['1', () => newFolder('/').catch(() => newFolder(tmpdir()))],
  ['3', async () => join(await newFolder(tmpdir()), 'a')],
  ['6', async () => join(await newFolder(tmpdir()), 'a/b/c/d')],
])(
  'npm run build in a folder of depth %s writes the same module',
  async (_depth, folder) => {
    const { wasmPath } = await buildCanister({ force: false });
    const wasm = await buildElsewhere(await folder(), { reusesKernel: false });
    expect(sha256Hex(wasm)).toBe(sha256Hex(await readFile(wasmPath)));
  },
  900_000,
);
