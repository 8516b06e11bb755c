// The app of docs/how-to/browser-app.md, built in an empty folder as its page says: with one
// @icp-sdk/core for the library and the sign-in.

import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPages } from '../documents/support/pages.ts';
import { type Installation, installPackages } from './installation.ts';

const page = readPages().find(({ path }) => path === 'docs/how-to/browser-app.md');
const blocks = page?.blocks ?? [];
let place: Installation;

beforeAll(async () => {
  const manifest = blocks.find(({ language }) => language === 'json')?.text ?? '';
  const command = blocks.find(({ text }) => text.includes('@icp-sdk/auth@'))?.text ?? '';
  const [auth = ''] = /@icp-sdk\/auth@[\d.]+/.exec(command) ?? [];
  place = await installPackages({ manifest: JSON.parse(manifest), others: [auth] });
});

afterAll(() => place?.remove());

test('npm ls @icp-sdk/core lists one version, without a conflict', async () => {
  const listed = await place.run('npm', ['ls', '@icp-sdk/core', '--all', '--parseable']);
  const folders = new Set(listed.split('\n').filter((line) => line.endsWith('@icp-sdk/core')));
  expect([...folders]).toEqual([join(place.folder, 'node_modules', '@icp-sdk', 'core')]);
});

test('npm run build bundles the page with sign-in, with one copy of @icp-sdk/core', async () => {
  const program = blocks.find(({ text }) => text.includes('auth.signIn()'));
  await place.write('app.ts', `${program?.before}\n${program?.text}`);
  const made = await bundle({
    entryPoints: [join(place.folder, 'app.ts')],
    ...{ bundle: true, splitting: true, format: 'esm', write: false, metafile: true },
    ...{ outdir: join(place.folder, 'out'), absWorkingDir: place.folder },
  });
  const inputs = Object.keys(made.metafile.inputs);
  const copies = new Set(inputs.flatMap((path) => /^.*@icp-sdk\/core(?=\/)/.exec(path) ?? []));
  expect([...copies]).toEqual(['node_modules/@icp-sdk/core']);
});
