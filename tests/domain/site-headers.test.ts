// Rules of a site's `_headers`: which fields each file gets, compared with a plain twin, and in which
// steps a change reaches the files.

import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { updateBucket } from '../../src/domain/administration/bucket-administration.ts';
import { findFile } from '../../src/domain/files/file-records.ts';
import { deleteFile } from '../../src/domain/files/files.ts';
import { fieldsOf, readHeaders } from '../../src/domain/files/site-headers.ts';
import { renewSites } from '../../src/domain/files/site-renewal.ts';
import { upgradedFilesPerMessage } from '../../src/limits.ts';
import {
  bucketChange,
  callOf,
  createScene,
  hourNs,
  putTestFile,
  startNs,
} from '../support/domain-fixture.ts';
import { type MemoryStores, upgradeStores } from '../support/memory-stores.ts';

let stores: MemoryStores;
const alice = callOf('alice');

beforeEach(async () => {
  ({ stores } = await createScene());
  updateBucket(stores, alice, bucketChange({ isSite: true, isPublic: true }));
  renewAll();
});

const step = () => renewSites(stores, startNs + hourNs);
const textOf = (path: string) =>
  findFile(stores, 'box', path)
    ?.siteHeaders?.map((each) => each.join(': '))
    .join('\n') ?? '';
const bytesOf = (lines: readonly string[]) => Buffer.from(lines.join('\n'));
const store = (...lines: readonly string[]) =>
  putTestFile(stores, { path: '/_headers', bytes: bytesOf(lines) });

/** Returns the number of steps. */
function renewAll(): number {
  let steps = 0;
  while (step()) expect(steps++).toBeLessThan(20);
  return steps;
}

interface Rule {
  readonly from: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

const linesOf = (rules: readonly Rule[]) =>
  rules.flatMap(({ from, fields }) => [
    from,
    ...fields.map(([name, value]) => `\t${name}: ${value}`),
  ]);

/** The addresses of a file, without a final slash; '' is the site. */
function addressesOf(path: string): string[] {
  const own = `/${path}`;
  const folder = /^(.*)\/index\.html$/.exec(own)?.[1];
  const page = /^(.*[^/])\.html$/.exec(own)?.[1];
  return [own, ...(folder === undefined ? [page ?? own] : [folder])];
}

/** Returns what the rules give to the file, by name. */
function twin(rules: readonly Rule[], path: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { from, fields } of rules) {
    const plain = from.replace(/\/$/, '');
    const prefix = from.endsWith('/*') ? from.slice(0, -2) : undefined;
    const matches = addressesOf(path).some((address) =>
      prefix === undefined ? address === plain : `${address}/`.startsWith(`${prefix}/`),
    );
    if (!matches) continue;
    const own: Record<string, string> = {};
    for (const [name, value] of fields) own[name] = own[name] ? `${own[name]}, ${value}` : value;
    Object.assign(found, own);
  }
  return found;
}

const paths = ['a', 'a.html', 'a/index.html', 'a/b', 'a/b.html', 'index.html', 'ab', '404.html'];
const rule: fc.Arbitrary<Rule> = fc.record({
  from: fc.constantFrom(
    '/',
    '/*',
    '/a',
    '/a/',
    '/a/*',
    '/a.html',
    '/a/b',
    '/a/b/*',
    '/a/index.html',
  ),
  fields: fc.array(
    fc.tuple(fc.constantFrom('X-A', 'X-B', 'Link'), fc.constantFrom('1', '2', 'x: y')),
    { maxLength: 4 },
  ),
});

test('fieldsOf(): files get the fields that a plain twin predicts', () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 6 }), (all) => {
      const { rules, fault } = readHeaders(bytesOf(linesOf(all)));
      expect(fault).toBeUndefined();
      for (const path of paths) {
        expect(Object.fromEntries(fieldsOf(rules, path)), path).toEqual(twin(all, path));
      }
    }),
  );
});

test('renewSites(): after any changes of files and rules each file has its fields', () => {
  const change = fc.oneof(
    fc.record({ path: fc.constantFrom(...paths), isKept: fc.boolean() }),
    fc.record({ rules: fc.array(rule, { maxLength: 4 }) }),
    fc.record({ steps: fc.constant(1) }),
  );
  let rules: readonly Rule[] = [];
  const property = fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
    for (const each of changes) {
      if ('steps' in each) step();
      else if ('rules' in each) {
        rules = each.rules;
        store(...linesOf(rules));
      } else if (each.isKept) putTestFile(stores, { path: `/${each.path}` });
      else if (findFile(stores, 'box', each.path)) {
        deleteFile(stores, alice, {
          bucket: 'box',
          path: each.path,
          apiKey: undefined,
          conditions: {},
        });
      }
      if (!('path' in each) || !each.isKept) continue;
      expect(fieldsAt(each.path)).toEqual(twin(rules, each.path));
    }
    renewAll();
    for (const path of paths) {
      const expected = findFile(stores, 'box', path) ? twin(rules, path) : {};
      expect(fieldsAt(path)).toEqual(expected);
    }
  });
  fc.assert(property, { numRuns: 30 });
});

function fieldsAt(path: string): Record<string, string> {
  return Object.fromEntries(findFile(stores, 'box', path)?.siteHeaders ?? []);
}

test('renewSites(): a change of _headers reaches the files in bounded steps, also across an upgrade', async () => {
  const files = Array.from({ length: 45 }, (_, index) => `file ${index}`);
  for (const path of files) putTestFile(stores, { path: `/${path}` });
  store('/*', '  X-A: 1');
  const renewed = (value: string) => files.filter((path) => textOf(path) === value).length;
  expect(renewed('X-A: 1')).toBe(0);
  step();
  const first = renewed('X-A: 1');
  expect(first).toBeGreaterThan(0);
  expect(first).toBeLessThanOrEqual(upgradedFilesPerMessage);
  store('/*', '  X-A: 2');
  stores = await upgradeStores(stores, 2);
  expect(renewed('X-A: 1')).toBe(first);
  renewAll();
  expect(renewed('X-A: 2')).toBe(files.length);
  store('# the same', '/*', '  X-A: 2');
  expect(renewAll(), 'nothing has changed').toBe(0);
  deleteFile(stores, alice, { bucket: 'box', path: '_headers', apiKey: undefined, conditions: {} });
  renewAll();
  expect(renewed('')).toBe(files.length);
});

test('readHeaders(): limits, and what is accepted without an effect', () => {
  const faultOf = (...lines: readonly string[]) => readHeaders(bytesOf(lines)).fault ?? '';
  const many = (count: number) => Array.from({ length: count }, (_, index) => `  X-${index}: v`);
  expect(
    faultOf('/*', '  X-Content-Type-Options: nosniff', ' Access-Control-Allow-Origin: *'),
  ).toBe('');
  expect(faultOf('/*', ...many(16))).toBe('');
  expect(faultOf('/*', ...many(17))).toContain('line 1: with the other rules');
  expect(faultOf('/*', ...many(21))).toContain('more than 20 fields');
  expect(faultOf('/a/*', ...many(9), '/b', '  X-C: 1', '/a', '  X-D: 1', ...many(8))).toBe('');
  expect(faultOf('/a/*', ...many(9), '/a/b', ...many(16), '  X-Z: 1')).toContain('line 11');
  const long = (name: string) => `  X-${name}: ${'v'.repeat(1_024)}`;
  expect(faultOf('/*', long('A'), long('B'), '/a', long('C'), '/b', long('D'))).toBe('');
  expect(faultOf('/*', long('A'), long('B'), '/a/*', long('C'), '/a/b', long('D'))).toContain(
    'line 6',
  );
  expect(faultOf('/*', '  X-A: a\rSet-Cookie: s=1')).toContain('visible ASCII');
  expect(faultOf('/*\r', '  X-A: a\r')).toBe('');
  expect(faultOf('  X-A: 1')).toContain('belongs to no path');
  expect(faultOf(...Array.from({ length: 101 }, () => '/a'))).toContain('101 rules');
  expect(faultOf('\n'.repeat(1_000))).toContain('1000 lines');
  const { rules } = readHeaders(bytesOf(['/*', ...many(20)]));
  expect(fieldsOf(rules, 'a')).toHaveLength(16);
});
