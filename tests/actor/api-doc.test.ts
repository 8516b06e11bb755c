// candid/api-doc.md, the answer of getApiDoc, names only what exists. Its limits come from the
// constants (scripts/descriptions/api-doc.ts).

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir } from '../tidy/source-tree.ts';

const read = (path: string) => readFileSync(join(projectDir, path), 'utf8');
const text = read('candid/api-doc.md');
const did = read('candid/file_storage.did');
const methods = new Set([...did.matchAll(/^ {4}(\w+): \(/gm)].map(([, name = '']) => name));
const codes = [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

test('getApiDoc names only methods that exist, with brackets', () => {
  const named = codes.flatMap((code) => /^(\w+)\(\)$/.exec(code)?.[1] ?? []);
  expect(new Set(named).size).toBeGreaterThan(35);
  expect(named.filter((name) => !methods.has(name))).toEqual([]);
  expect(codes.filter((code) => methods.has(code))).toEqual([]);
});

test('getApiDoc names only fields, modes and errors that exist', () => {
  const refusals = read('src/domain/shared/refusal.ts');
  const isKnown = (word: string) =>
    /^[A-Z]/.test(word)
      ? refusals.includes(`'${word}'`)
      : new RegExp(`\\b${word}(?:: |;|\`)`).test(did);
  // The word of the command, and values of results
  const others = ['Code: sentence', 'efs', 'err', 'ok'];
  const words = codes.filter((code) => /^\w+$/.test(code) && !others.includes(code));
  expect(words.length).toBeGreaterThan(12);
  expect(words.filter((word) => !isKnown(word))).toEqual([]);
});

test('getApiDoc names only addresses that the service serves', () => {
  const served = read('docs/reference/http.md');
  const addresses = codes.filter((code) => code.startsWith('/'));
  expect(addresses.length).toBeGreaterThan(3);
  const names = addresses.map((address) => address.replace('/.well-known/', ''));
  expect(names.filter((name) => !served.includes(name))).toEqual([]);
});

test('getApiDoc is short enough to be read whole', () => {
  expect(Buffer.byteLength(text)).toBeGreaterThan(3_000);
  expect(Buffer.byteLength(text)).toBeLessThan(5_200);
});
