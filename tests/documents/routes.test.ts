// docs/reference/http.md has a section for each method of each route.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { routes } from '../../src/http/routes.ts';
import { projectDir } from '../tidy/source-tree.ts';

const page = readFileSync(join(projectDir, 'docs/reference/http.md'), 'utf8');
const sections = [...page.matchAll(/^### ([A-Z]+) (\S+)$/gm)].map(([, method = '', path = '']) => ({
  method,
  // A folder's name stands for each parameter.
  path: path.replace(/^B\//, '/api/v1/bucket/demo/').replaceAll(/\{\w+\}/g, 'name'),
}));

function isAt(pattern: RegExp, path: string): boolean {
  pattern.lastIndex = 0;
  return pattern.test(path);
}

test('http.md has a section for each method of each route', () => {
  const undescribed = routes
    // The console's page and its files
    .filter(({ pattern }) => !isAt(pattern, '/'))
    .flatMap(({ pattern, handlers }) =>
      Object.keys(handlers)
        .filter((method) => method !== 'HEAD')
        .filter(
          (method) => !sections.some((each) => each.method === method && isAt(pattern, each.path)),
        )
        .map((method) => `${method} ${pattern}`),
    );
  expect(undescribed).toEqual([]);
});

test('http.md has no section without a route', () => {
  const unknown = sections.filter(
    ({ method, path }) =>
      !routes.some(({ pattern, handlers }) => isAt(pattern, path) && method in handlers),
  );
  expect(unknown).toEqual([]);
});
