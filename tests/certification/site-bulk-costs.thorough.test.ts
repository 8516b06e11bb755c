// One call that changes many files of a site with 100 rules publishes each rule a bounded number of
// times: no such call changes one path twice, and erasing former versions publishes nothing.

import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { ownReplica } from '../support/network/test-network.ts';

let canister: CertifiedCanister;
const million = 1_000_000;
const ruleCount = 100;
const fileCount = 250;
const versionCount = 20;
const api = '/api/v1/bucket/demo';

beforeAll(async () => {
  canister = await openCertifiedCanister();
  await canister.setSite('demo', true);
  for (let index = 0; index < fileCount; index++) {
    await canister.put(`t/${index}.html`, Buffer.from(`${index}`), [['content-type', 'text/html']]);
  }
}, 300_000);

afterAll(() => canister?.stop());
beforeEach(onlyOnOurReplica('its meter'));

/** Returns the instructions of the last update, in millions. */
function lastCost(): number {
  const report = ownReplica(canister).reports.findLast(({ kind }) => kind === 'update');
  return Number(report?.instructions ?? Number.NaN) / million;
}

function rules(line: (index: number) => string): Promise<void> {
  const lines = Array.from({ length: ruleCount }, (_, index) => line(index));
  return canister.put('_redirects', Buffer.from(lines.join('\n')));
}

async function post(route: string, body: object): Promise<number> {
  await canister.change({
    method: 'POST',
    url: `${api}/${route}`,
    body: Buffer.from(JSON.stringify(body)),
  });
  return lastCost();
}

/** Returns the costs of moving all files of the site away, and back. */
async function moveCosts(): Promise<readonly number[]> {
  const away = await post('move', { fromPrefix: 't/', toPrefix: 'u/' });
  return [away, await post('move', { fromPrefix: 'u/', toPrefix: 't/' })];
}

test('_redirects: 100 rules add at most 0.6 G instructions to one call for many files', async () => {
  const added = 600;
  const plain = Math.max(...(await moveCosts()));
  await rules((index) => `/old/${index} /t/${index}.html 200`);
  expect(Math.max(...(await moveCosts()))).toBeLessThan(plain + added);
  await rules((index) => `/old/${index}/* /t/7.html 404`);
  expect(Math.max(...(await moveCosts()))).toBeLessThan(plain + added);
  // 1.2 G with all files and rules of the site, 0.4 G of it for the rules
  expect(await post('delete', { prefix: '' })).toBeLessThan(plain);
}, 120_000);

test('_redirects: erasing its former versions publishes no rules', async () => {
  const Change = IDL.Record({ bucketId: IDL.Text, keepVersionsDays: IDL.Opt(IDL.Nat) });
  await canister.call('updateBucket', [Change], [{ bucketId: 'demo', keepVersionsDays: [30n] }]);
  for (let count = 0; count <= versionCount; count++) {
    await rules((index) => `/old/${index} /new/${count}`);
  }
  const answer = await canister.change({
    method: 'DELETE',
    url: `${api}/versions?prefix=_redirects`,
  });
  expect(JSON.parse(Buffer.from(answer.body).toString())).toMatchObject({ erased: versionCount });
  // Publishing them each time would take 8 G
  expect(lastCost()).toBeLessThan(300);
}, 120_000);
