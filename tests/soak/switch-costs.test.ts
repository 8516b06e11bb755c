// The cost of one switch on the canister's Wasm, for as much as one message may do: pages of a site,
// each with three addresses, which replace others, and files with one address. The network allows a
// message 40 G instructions.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { switchedFilesMax, switchLeavesMax } from '../../src/limits.ts';
import { type Person, personOf } from '../support/people.ts';
import { openService, type Service } from '../support/service.ts';

const bucketId = 'www';
const instructionsMax = 20e9;
const batch = 200;
/** Work in leaves: a move with the replaced content, and two addresses besides the path. */
const newPage = 80 + 1 + 2 * 18;
const replacedPage = newPage + 1 + 23;

const reports: MessageReport[] = [];
let service: Service;
let owner: Person;

beforeAll(async () => {
  service = await openService({ onReport: (report) => void reports.push(report) });
  owner = personOf(service, 'owner');
  await owner.get('createBucket', bucketId, [{ isPublic: [true], isSite: [true] }]);
});
afterAll(() => service?.stop());

const pageOf = (index: number) => `docs/section-${index % 40}/page-${index}/index.html`;
const assetOf = (index: number) => `assets/script-${index}.0123456789abcdef.js`;

async function stage(count: number, pathOf: (index: number) => string, text: string) {
  for (let start = 0; start < count; start += batch) {
    const length = Math.min(batch, count - start);
    const files = Array.from({ length }, (_, index) => {
      const path = `.efs-deploy/${pathOf(start + index)}`;
      return { path, bytes: Buffer.from(`${text} ${start + index}`) };
    });
    await owner.get('uploadFiles', { bucketId, files });
  }
}

/** Returns the instructions of the switch. */
async function switchAll(subject: string, files: number, change: object = {}): Promise<number> {
  const prefixes = { bucketId, fromPrefix: '.efs-deploy/', toPrefix: '' };
  const { ok, err } = await owner.ask('switchFiles', { ...prefixes, ...change });
  const last = reports.findLast(
    ({ kind, method }) => kind === 'update' && method === 'switchFiles',
  );
  const instructions = Number(last?.instructions ?? expect.fail('no update'));
  const each = (instructions / files / 1e6).toFixed(1);
  console.log(`${subject}: ${(instructions / 1e9).toFixed(1)} G, ${each} M for each of ${files}`);
  expect(instructions).toBeLessThan(instructionsMax);
  if (!('ifResult' in change)) expect([ok !== undefined, err]).toEqual([true, undefined]);
  return instructions;
}

test('switchFiles takes less than half of what the network allows', async () => {
  const pages = Math.floor(switchLeavesMax / newPage);
  await stage(pages, pageOf, 'first');
  await switchAll('new pages', pages);
  const replaced = Math.floor(switchLeavesMax / replacedPage);
  await stage(replaced, pageOf, 'second');
  await switchAll('checks and digest', replaced, { ifResult: ['0'.repeat(64)] });
  await switchAll('replaced pages', replaced);
  const deletes = Array.from({ length: 1_000 }, (_, index) => pageOf(index));
  await switchAll('deleted pages', 1_000, { deletes: [deletes] });
  await stage(switchedFilesMax, assetOf, 'first');
  await switchAll('new assets', switchedFilesMax);
  await stage(1_700, assetOf, 'second');
  await switchAll('replaced assets', 1_700);
});
