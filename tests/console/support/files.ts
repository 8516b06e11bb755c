// Files for tests that look at a folder: with names in other scripts, and with former versions.

import { expect } from 'vitest';
import type { TestedConsole } from './console.ts';

const names = [
  'a-rather-long-name-of-a-file-that-does-not-fit-on-a-phone-2026-11-22.txt',
  'notes.md',
  'צילומים.txt',
  '2026/list.txt',
];

/** Stores files in the bucket `demo`, which keeps former versions and has a quota and a key. */
export async function storeFiles({ storage }: TestedConsole): Promise<void> {
  await storage.buckets.update('demo', { quotaBytes: 4_000_000, keepVersionsDays: 30 });
  const source = new Blob(['# Notes\n'.repeat(425)], { type: 'text/plain' });
  const files = names.map((path) => ({ path, source }));
  for await (const { error } of storage.uploadAll(files, { bucket: 'demo' })) {
    expect(error).toBeUndefined();
  }
  await storage.upload(source, { bucket: 'demo', path: 'notes.md' });
  await storage.keys.create({ name: 'Backup', buckets: ['demo'], permissions: ['read', 'write'] });
  await storage.links.create({ bucket: 'demo', path: 'notes.md' });
}
