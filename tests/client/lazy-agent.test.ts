// A program that only uses HTTP loads neither the agent nor the Candid library.

import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { projectDir } from '../tidy/source-tree.ts';

test('createStorage() does not load the agent and Candid at start', async () => {
  const { metafile } = await build({
    absWorkingDir: projectDir,
    entryPoints: [join('packages', 'client', 'src', 'storage.ts')],
    bundle: true,
    splitting: true,
    format: 'esm',
    metafile: true,
    write: false,
    outdir: 'out',
  });
  const atOnce = new Set<string>();
  const follow = (name: string) => {
    if (atOnce.has(name)) return;
    atOnce.add(name);
    for (const { path, kind } of metafile.outputs[name]?.imports ?? []) {
      if (kind === 'import-statement') follow(path);
    }
  };
  follow('out/storage.js');
  const inputs = [...atOnce].flatMap((name) => Object.keys(metafile.outputs[name]?.inputs ?? {}));
  const all = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const ofCandid = (path: string) => /agent|candid|principal|icp-sdk/.test(path);
  expect(inputs.filter(ofCandid)).toEqual([]);
  expect(all.filter(ofCandid)).toContain('packages/client/src/candid/file_storage.did.ts');
});
