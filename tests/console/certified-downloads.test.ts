// The page's downloads are compared with signed records, also those of versions.

import { expect, test } from 'vitest';
import { withCertifiedDownloads } from '../../console/src/certified-downloads.ts';
import type { Storage } from '../../packages/client/src/storage.ts';

test('withCertifiedDownloads() certifies downloads of files and versions unless declined', async () => {
  const options: unknown[] = [];
  const download = async (_: unknown, wanted?: unknown) => void options.push(wanted);
  const list = () => [];
  const plain = { download, versions: { download, list } } as unknown as Storage;
  const storage = withCertifiedDownloads(plain);
  const file = { bucket: 'demo', path: 'a' };
  await storage.download(file);
  await storage.download(file, { certified: false });
  await storage.versions.download({ ...file, version: 1 }, { verify: true });
  expect(options).toEqual([
    { certified: true },
    { certified: false },
    { certified: true, verify: true },
  ]);
  expect(storage.versions.list).toBe(list);
});
