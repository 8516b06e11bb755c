// A state folder of the former layout opens with its content, and has the current layout
// afterwards.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openDiskStore } from '../../../packages/replica/src/persistence/disk-store.ts';
import { pageOf, writeFormerFolder } from './former-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'replica-former-'));
const id = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
afterAll(() => rmSync(root, { recursive: true, force: true }));

function expectAsItWas(folder: string, notes: string[]): void {
  const store = openDiskStore(folder, { onNote: (sentence) => notes.push(sentence) });
  try {
    expect(Buffer.from(store.load()[0]?.record ?? []).toString()).toBe('three');
    expect(Buffer.from(store.getValue('root key') ?? []).toString()).toBe('key');
    const found = Buffer.alloc(3 * 4_096);
    store.stableMemory(id).read(0, found);
    expect(found.equals(Buffer.concat([pageOf(3), pageOf(2), pageOf(0)]))).toBe(true);
    expect(store.heap(id)).toBeUndefined();
  } finally {
    store.close();
  }
}

test('a folder of the former layout is converted once, with a note', () => {
  const folder = join(root, 'killed');
  writeFormerFolder(folder, id);
  const notes: string[] = [];
  expectAsItWas(folder, notes);
  expect(notes.join()).toMatch(/earlier version: .* started as by an upgrade/);
  expect(readFileSync(join(folder, 'replica-state'), 'utf8')).toMatch(/format 2$/m);
  expectAsItWas(folder, notes);
  expect(notes).toHaveLength(1);
});

test('a folder of the former layout without its snapshot is refused', () => {
  const folder = join(root, 'damaged');
  writeFormerFolder(folder, id);
  rmSync(join(folder, 'snapshot'));
  // Without a snapshot, the journal does not begin at the start of the state.
  expect(() => openDiskStore(folder)).toThrow(/corrupt at byte/);
});
