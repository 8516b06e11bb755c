// The list of file keys of a shared folder.

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  decodeSharedList,
  encodeSharedList,
  listIdOfSecret,
  newFolderSecret,
} from '../../packages/client/src/age/folder-list.ts';

const fileKey = new Uint8Array(16).fill(7);

function listOf(stored: string, path: string): Uint8Array {
  return encodeSharedList({ prefix: 'p/', files: [{ stored, path, fileKey, etag: 'e' }] });
}

test('decodeSharedList() returns the files, with a plain name where it differs', () => {
  for (const [stored, path] of [
    ['a.txt', 'a.txt'],
    ['x'.repeat(200), 'x'.repeat(200)],
    ['c2Vh/bGFu', 'See/Land ü.txt'],
  ] as const) {
    const { files } = decodeSharedList(listOf(stored, path), 'p/');
    expect(files).toEqual([{ stored, path, fileKey, etag: 'e' }]);
  }
});

test('decodeSharedList() refuses names that no sealed name could have, and another folder', () => {
  const wrong = ['..', '.', '', 'a/b', '\u202egpj.exe', 'a\u001b[31m', 'x'.repeat(151)];
  for (const path of wrong) {
    expect(() => decodeSharedList(listOf('c2Vh', path), 'p/'), path).toThrow('is damaged');
  }
  expect(() => decodeSharedList(listOf('a', 'a'), 'q/')).toThrow('belongs to another folder');
});

test('listIdOfSecret() returns the beginning of the documented digest', async () => {
  const secret = newFolderSecret();
  const hash = createHash('sha256').update('encrypted-file-storage/folder-link/v1').update(secret);
  expect(await listIdOfSecret(secret)).toBe(hash.digest('base64url').slice(0, 16));
});
