// Every method of the interface has a row in the table: the bounds of its arguments, and for
// updates a check of the caller's right to send it as an ingress message.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { methodTable } from '../../src/actor/dispatch/method-table.ts';
import { projectDir } from '../tidy/source-tree.ts';

const interfaceText = readFileSync(join(projectDir, 'candid', 'file_storage.did'), 'utf8');
const methods = [...interfaceText.matchAll(/^ {4}(\w+): \(.*?;$/gm)].map(([line, name = '']) => {
  return { name, isQuery: line.endsWith(' query;') };
});

test('methodTable has a row for each method, and no other', () => {
  expect(methods.length).toBeGreaterThan(20);
  expect(Object.keys(methodTable).sort()).toEqual(methods.map(({ name }) => name).sort());
});

test('methodTable has an ingress check for each update and each signed query, and no other', () => {
  // The inspection checks http_request_update by running its query: src/actor/methods/inspect.ts.
  // Only canisters call these three, so the inspection refuses them.
  const ofCanisters = ['createBucketFor', 'reportPublicBuckets', 'reportToFront'];
  const others = ['http_request_update', ...ofCanisters];
  const checked = methods.filter(({ isQuery, name }) => {
    return isQuery === (methodTable[name]?.isSignedQuery === true) && !others.includes(name);
  });
  const rows = Object.entries(methodTable).filter(([, { admit }]) => admit !== undefined);
  expect(rows.map(([name]) => name).sort()).toEqual(checked.map(({ name }) => name).sort());
});
