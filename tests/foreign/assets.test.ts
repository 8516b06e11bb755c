// DFINITY's asset canister, used through its own library: uploaded files are listed, read, and
// served by the gateway with their certificates, also after a kill and after an upgrade.

import { AnonymousIdentity } from '@dfinity/agent';
import { AssetManager } from '@dfinity/assets';
import { describe, expect, test } from 'vitest';
import { sampleBytes } from '../support/service.ts';
import { type ForeignCanister, openForeign } from './support/foreign-canister.ts';
import { foreignFiles } from './support/foreign-files.ts';

/** Small files in one message, one file in chunks. */
const files = [
  { fileName: 'index.html', bytes: new TextEncoder().encode('<h1>Assets</h1>') },
  { fileName: 'picture.png', bytes: sampleBytes('picture', 60_000) },
  { fileName: 'video.mp4', bytes: sampleBytes('video', 4_500_000) },
] as const;

async function managerOf(canister: ForeignCanister): Promise<AssetManager> {
  return new AssetManager({
    canisterId: canister.id,
    agent: await canister.agent(canister.owner),
  });
}

async function expectAll(canister: ForeignCanister): Promise<void> {
  const manager = await managerOf(canister);
  const listed = (await manager.list()).map(({ key }) => key).sort();
  expect(listed).toEqual(files.map(({ fileName }) => `/${fileName}`).sort());
  for (const { fileName, bytes } of files) {
    const asset = await manager.get(`/${fileName}`);
    expect(Buffer.from(await asset.toUint8Array()).equals(bytes), fileName).toBe(true);
    const response = await canister.get(`/${fileName}`);
    expect(response.status, fileName).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes), fileName).toBe(true);
  }
  // The canister certifies missing paths too; some versions answer them with a fallback page.
  expect([200, 404]).toContain((await canister.get('/nothing-here.txt')).status);
}

describe.each(foreignFiles('assets'))('%s', (path) => {
  test('keeps the uploaded files through kills and an upgrade', { timeout: 300_000 }, async () => {
    const canister = await openForeign(path);
    try {
      const batch = (await managerOf(canister)).batch();
      for (const { fileName, bytes } of files) await batch.store(bytes, { fileName });
      await batch.commit();
      await expectAll(canister);
      await canister.killAndStart();
      await expectAll(canister);
      await canister.killAndUpgrade();
      await expectAll(canister);
      const manager = await managerOf(canister);
      await manager.delete('/picture.png');
      await canister.killAndStart();
      const left = (await (await managerOf(canister)).list()).map(({ key }) => key).sort();
      expect(left).toEqual(['/index.html', '/video.mp4']);
    } finally {
      await canister.close();
    }
  });

  test('refuses uploads by strangers', { timeout: 120_000 }, async () => {
    const canister = await openForeign(path);
    try {
      const agent = await canister.agent(new AnonymousIdentity());
      const manager = new AssetManager({ canisterId: canister.id, agent });
      const storing = manager.store(Uint8Array.of(1), { fileName: 'mine.bin' });
      await expect(storing).rejects.toThrow();
      expect(await (await managerOf(canister)).list()).toEqual([]);
    } finally {
      await canister.close();
    }
  });
});
