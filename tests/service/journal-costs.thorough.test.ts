// The cost of reading the journal, wherever a bucket's entries are in the log, and however long
// their paths.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IDL } from '@icp-sdk/core/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { methodTypes } from '../../packages/client/src/actor/candid-interface.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import {
  deployLocally,
  principalOf,
  type ServiceDescription,
} from '../../scripts/local-service.ts';
import { fillJournal } from '../support/journal-fill.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';

const seed = seedOr(20261128);
const entryCount = 60_000;
const instructionsMax = 5_000_000;
const largeLimit = 5_000n;
/** A thirtieth of what a query may take. */
const largeInstructionsMax = 160_000_000;

let folder: string;
let replica: Replica;
let service: ServiceDescription;

async function start(): Promise<void> {
  const { wasmPath } = await buildCanister({ force: false });
  const wasm = new Uint8Array(await readFile(wasmPath));
  replica = await startReplica({ server: false, stateDir: folder });
  service = await deployLocally({ replica, stateDir: folder, wasm });
  await send('call', 'uploadFile', {
    ...{ bucketId: service.bucket, path: 'a', contentType: 'text/plain', bytes: [1] },
    ...{ tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [], metadata: [] },
  });
}

async function send(kind: 'call' | 'query', method: string, argument: object) {
  const bytes = new Uint8Array(IDL.encode(methodTypes(method).argTypes, [argument]));
  const sender = principalOf(service.identityPem);
  const reply = await replica[kind](service.canisterId, method, bytes, { sender });
  const [result] = IDL.decode([methodTypes(method).result], reply) as [{ ok?: unknown }];
  return result.ok ?? expect.fail(`${method} was refused: ${JSON.stringify(result)}`);
}

/** In the second half of the log, the bucket's entries become rarer; paths have 1 to 1,000 bytes. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-costs-'));
  await start();
  await replica.stop();
  const next = randomNumbers(seed);
  await fillJournal(folder, {
    bucket: service.bucket,
    count: entryCount,
    isOwn: (number) => number < entryCount / 2 || next(Math.ceil(number / 400)) === 0,
    pathOf: () => 'p'.repeat(next(4) === 0 ? 1 + next(1_000) : 1 + next(60)),
  });
  await start();
});
afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('readJournal', () => {
  test(`takes at most 5 M instructions at any place, seed ${seed}`, async () => {
    const next = randomNumbers(seed);
    const costs: number[] = [];
    const counts: number[] = [];
    for (let turn = 0; turn < 150; turn++) {
      const at = BigInt(1 + next(entryCount));
      const range = turn % 2 === 0 ? { after: [at], before: [] } : { after: [], before: [at] };
      const request = { bucketId: service.bucket, apiKey: [], limit: [], ...range };
      const page = (await send('query', 'readJournal', request)) as { entries: object[] };
      costs.push(Number(replica.lastMessage()?.instructions));
      counts.push(page.entries.length);
    }
    console.log(`at most ${Math.max(...costs)}; ${Math.min(...counts)} to ${Math.max(...counts)}`);
    expect(Math.max(...costs)).toBeLessThanOrEqual(instructionsMax);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(Math.max(...counts)).toBeGreaterThan(50);
  });

  test('returns up to 5,000 entries in a query, each once, at a bounded cost', async () => {
    const asked = { bucketId: service.bucket, apiKey: [], before: [], limit: [largeLimit] };
    const costs: number[] = [];
    const counts: number[] = [];
    const found: bigint[] = [];
    for (let after = 0n, more = true; more; ) {
      const answer = await send('query', 'readJournal', { ...asked, after: [after] });
      const { entries, hasMore } = answer as { entries: { seq: bigint }[]; hasMore: boolean };
      costs.push(Number(replica.lastMessage()?.instructions));
      counts.push(entries.length);
      found.push(...entries.map(({ seq }) => seq));
      after = found.at(-1) ?? after;
      more = hasMore;
    }
    console.log(`${counts.join(', ')} entries, at most ${Math.max(...costs)}`);
    expect(Math.max(...costs)).toBeLessThanOrEqual(largeInstructionsMax);
    expect(Math.max(...counts)).toBeGreaterThan(2_000);
    expect(found.every((seq, at) => at === 0 || seq > (found[at - 1] ?? seq))).toBe(true);
    const backward: bigint[] = [];
    for (let before = BigInt(entryCount) + 2n, more = true; more; ) {
      const range = { after: [], before: [before] };
      const answer = await send('query', 'readJournal', { ...asked, ...range });
      const { entries, hasMore } = answer as { entries: { seq: bigint }[]; hasMore: boolean };
      expect(Number(replica.lastMessage()?.instructions)).toBeLessThan(largeInstructionsMax);
      backward.push(...entries.map(({ seq }) => seq));
      before = backward.at(-1) ?? before;
      more = hasMore;
    }
    expect(backward.toReversed()).toEqual(found);
  });
});
