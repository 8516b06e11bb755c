// Links between the pages resolve, including their anchors.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir } from '../tidy/source-tree.ts';
import { readPages } from './support/pages.ts';

const others = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
const texts = new Map([
  ...readPages().map(({ path, text }) => [path, text] as const),
  ...others.map((path) => [path, readFileSync(join(projectDir, path), 'utf8')] as const),
]);

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
}

/** Returns the anchors that GitHub generates for headings. */
function anchorsOf(text: string): string[] {
  const plain = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  return [...plain.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('links point to existing files and headings', () => {
  const broken = [...texts].flatMap(([path, text]) =>
    [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
      if (/^(?:https?|mailto):/.test(target)) return [];
      const [file = '', anchor] = target.split('#');
      const found =
        file === '' ? path : relative(projectDir, join(projectDir, dirname(path), file));
      if (!existsSync(join(projectDir, found))) return [`${path}: ${target}`];
      if (anchor === undefined) return [];
      const headings = anchorsOf(texts.get(found) ?? readFileSync(join(projectDir, found), 'utf8'));
      return headings.includes(anchor) ? [] : [`${path}: ${target}`];
    }),
  );
  expect(broken).toEqual([]);
});

test('SECURITY.md names a test for each kind of lie, and each named test exists', () => {
  const [, section = ''] = (texts.get('SECURITY.md') ?? '').split('## Who can lie about what\n');
  const rows = section.split('\n## ')[0]?.match(/^\| (?!answer|-).+$/gm) ?? [];
  expect(rows.length).toBeGreaterThan(10);
  const names = rows.flatMap(
    (row) => row.split(' | ').at(-1)?.replace(/ \|$/, '').split(', ') ?? [],
  );
  const missing = names.filter((name) =>
    ['', '.thorough'].every(
      (kind) => !existsSync(join(projectDir, `tests/${name}${kind}.test.ts`)),
    ),
  );
  expect(missing).toEqual([]);
});

test('docs/README.md links every page of docs', () => {
  const map = texts.get('docs/README.md') ?? '';
  const targets = [...map.matchAll(/\]\(([^)\s#]+)/g)].map(([, target = '']) =>
    join('docs', target),
  );
  const pages = [...texts.keys()].filter((path) => /^docs\/.+\.md$/.test(path));
  expect(pages.filter((path) => path !== 'docs/README.md' && !targets.includes(path))).toEqual([]);
});
