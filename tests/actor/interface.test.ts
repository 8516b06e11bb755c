// The interface that clients use: its first methods have the signatures that clients rely on, and
// the Wasm has the same text as the repository.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readSections } from '../../scripts/wasm-sections.ts';
import { projectDir } from '../tidy/source-tree.ts';

const interfaceText = readFileSync(join(projectDir, 'candid', 'file_storage.did'), 'utf8');
const result = (ok: string) => `(variant {ok${ok}; err:text})`;

test.each([
  ['beginFileUpload', `(text, text, text, nat, opt text) -> ${result(':text')}`],
  ['uploadFileChunkIndexed', `(text, nat, vec nat8) -> ${result(':nat')}`],
  ['completeFileUpload', `(text, opt text) -> ${result(':text')}`],
  ['cancelUpload', `(text) -> ${result('')}`],
])('interfaceText has %s with the signature that clients rely on', (name, signature) => {
  expect(interfaceText).toContain(`    ${name}: ${signature};\n`);
});

test('getUpload and http_request are queries, and http_request_update is an update', () => {
  expect(interfaceText).toMatch(/ {4}getUpload: \(text\) -> .* query;\n/);
  expect(interfaceText).toMatch(/ {4}http_request: .* query;\n/);
  expect(interfaceText).toMatch(/ {4}http_request_update: .*(?<! query);\n/);
});

test('readSections(): the Wasm carries the committed interface as public metadata', () => {
  const wasm = gunzipSync(readFileSync(join(projectDir, 'build', 'file_storage.wasm.gz')));
  const name = 'icp:public candid:service';
  const section = readSections(new Uint8Array(wasm)).find(({ id, content }) => {
    return (
      id === 0 &&
      Buffer.from(content)
        .subarray(1, 1 + name.length)
        .toString() === name
    );
  });
  const content = Buffer.from(section?.content ?? []).subarray(1 + name.length);
  expect(content.toString()).toBe(interfaceText);
});
