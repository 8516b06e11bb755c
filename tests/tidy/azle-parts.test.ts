// The parts of Azle's inside that the build uses: an upgrade of Azle that changes one needs a look.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectDir } from './source-tree.ts';

const azle = join(projectDir, 'node_modules/azle');
const pins = Object.entries(
  JSON.parse(readFileSync(join(projectDir, 'tests/tidy/azle-parts.json'), 'utf8')) as Readonly<
    Record<string, string>
  >,
);
const build = 'src/stable/build';

function changeOf(bytes: Uint8Array, path: string, pinned: string): string | undefined {
  if (createHash('sha256').update(bytes).digest('hex') === pinned) return undefined;
  return (
    `Azle's ${path} is not the file that the build was written for. Read what changed, build, run ` +
    'all tests, and write its SHA-256 into tests/tidy/azle-parts.json; ARCHITECTURE.md, "Azle\'s ' +
    'inside", says what it is for.'
  );
}

describe("Azle's inside", () => {
  test.each(pins)('%s is the file that the build was written for', (path, pinned) => {
    expect(changeOf(readFileSync(join(azle, path)), path, pinned)).toBeUndefined();
  });

  test('a file with another byte is reported with what to do', () => {
    const [path = '', pinned = ''] = pins[0] ?? [];
    const bytes = readFileSync(join(azle, path));
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    expect(changeOf(bytes, path, pinned)).toMatch(/^Azle's dist\/.* Read what changed, build, run/);
  });

  test('scripts/azle.ts loads only modules that are pinned and in ARCHITECTURE.md', () => {
    const script = readFileSync(join(projectDir, 'scripts/azle.ts'), 'utf8');
    const [, list = ''] = /const modules = \[([^\]]*)\]/.exec(script) ?? [];
    const loaded = [...list.matchAll(/'([^']+)'/g)].map(([, path]) => `${build}/${path}`);
    const paths = pins.map(([path]) => path);
    expect(loaded.length).toBeGreaterThan(0);
    expect(loaded.filter((path) => !paths.includes(path))).toEqual([]);
    const page = readFileSync(join(projectDir, 'ARCHITECTURE.md'), 'utf8');
    expect(paths.filter((path) => !page.includes(basename(path)))).toEqual([]);
  });
});
