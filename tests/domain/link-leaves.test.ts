// Links whose leaves an earlier version published under names: upkeep moves the leaves of each link
// once, in bounded steps, and repeats no other upgrade.

import { expect, test } from 'vitest';
import { upgradeRecords } from '../../src/domain/administration/record-upgrade.ts';
import { createLink } from '../../src/domain/files/links.ts';
import { movedLinksPerMessage } from '../../src/limits.ts';
import { callOf, createScene, putTestFile, startNs } from '../support/domain-fixture.ts';

const alice = callOf('alice');
/**
 * Progress record of the former version: version 1, target 3, stage `done`, two numbers of four
 * bytes, no texts.
 */
const doneByFormer = Buffer.from(`010303${'00'.repeat(8)}00`, 'hex');
const key = Buffer.from('recordUpgrade');

test('upgradeRecords moves the leaves of all links that the previous version stored', async () => {
  const { stores } = await createScene();
  const names = new Map<string, string>();
  for (let at = 0; at < 45; at++) {
    const path = `folder/f${at}`;
    putTestFile(stores, { path: `/${path}` });
    for (let count = 0; count < 10; count++) {
      const { link } = createLink(stores, alice, { bucket: 'box', path, apiKey: undefined });
      names.set(link.id, link.name);
    }
  }
  stores.meta.set(key, doneByFormer);
  const moved: [id: string, name: string][] = [];
  const puts: string[] = [];
  Object.assign(stores.publication, {
    moveLink: (id: string, name: string) => moved.push([id, name]),
    put: ({ path }: { path: string }) => puts.push(path),
  });
  let steps = 0;
  for (let hasMore = true; hasMore; steps++) {
    const before = moved.length;
    hasMore = upgradeRecords(stores, startNs);
    expect(moved.length - before).toBeLessThanOrEqual(movedLinksPerMessage);
  }
  expect([steps, moved.length, puts]).toEqual([3, 450, []]);
  expect(new Map(moved)).toEqual(names);
  expect(upgradeRecords(stores, startNs)).toBe(false);
});
