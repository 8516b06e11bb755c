// One history on two networks, whose clocks and random numbers are the same: all nodes of a subnet
// run it, and must arrive at the same journal.

import { createHash } from 'node:crypto';
import { IDL } from '@icp-sdk/core/candid';
import { expect, test } from 'vitest';
import { methodTypes } from '../../packages/client/src/actor/candid-interface.ts';
import { blocksIn } from '../../packages/client/src/actor/journal-blocks.ts';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { KeyNetwork, owner, settings } from '../support/key-network.ts';
import { keyFor } from '../support/people.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import { seedOr } from '../support/seed.ts';

const seed = seedOr(20261128);

/** Returns `raw_rand` of a network, the same for the same name. */
function randomOf(name: string): () => Uint8Array {
  let count = 0;
  return () => {
    count += 1;
    return new Uint8Array(createHash('sha256').update(`${name} ${count}`).digest());
  };
}

interface Journal {
  /** Replies in Candid. */
  readonly blocks: Buffer;
  readonly entries: Buffer;
  /** Without hashes, which depend on secrets. */
  readonly kinds: string[];
}

async function query(network: KeyNetwork, method: string, argument: unknown): Promise<Uint8Array> {
  const { argTypes } = methodTypes(method);
  const bytes = new Uint8Array(IDL.encode(argTypes, [argument]));
  const sent = { sender: owner };
  return createInProcessCalls(network.engine).query(network.canisterId(), method, bytes, sent);
}

async function journalOf(network: KeyNetwork): Promise<Journal> {
  const blocks = await query(network, 'icrc3_get_blocks', [{ start: 0n, length: 1_000n }]);
  const none = { apiKey: [], before: [], limit: [] };
  const request = { bucketId: 'photos', after: [0n], ...none };
  const kinds = blocksIn(blocks).map(({ kind, atNs }) => `${kind} ${atNs}`);
  const entries = await query(network, 'readJournal', request);
  return { blocks: Buffer.from(blocks), entries: Buffer.from(entries), kinds };
}

/** Runs random changes, with upgrades and pauses between them. */
async function historyOn(random: string): Promise<Journal> {
  const network = new KeyNetwork({ random: randomOf(random) });
  await network.install(settings({ stored: null }));
  await network.wait(0);
  for (const name of ['photos', 'notes']) {
    expect(await network.call('createBucket', name)).toHaveProperty('ok');
  }
  const next = randomNumbers(seed);
  const none = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [] };
  for (let turn = 0; turn < 120; turn++) {
    const bucketId = next(3) === 0 ? 'notes' : 'photos';
    const path = `folder ${next(3)}/file ${next(8)}`;
    const kind = next(10);
    if (kind < 6) {
      const bytes = new Uint8Array(next(2_000)).fill(next(256));
      const file = { bucketId, path, contentType: 'text/plain', bytes, ...none };
      expect(await network.call('uploadFile', file)).toHaveProperty('ok');
    } else if (kind < 8) await network.call('deleteFile', bucketId, path, []);
    else if (kind === 8) await network.call('createApiKey', keyFor([bucketId], ['read']));
    else await network.wait(next(1_000));
    if (turn % 40 === 20) await network.upgrade();
  }
  return journalOf(network);
}

test(`icrc3_get_blocks and readJournal are the same bytes after the same history, seed ${seed}`, async () => {
  const [first, second, other] = await Promise.all([
    historyOn('one'),
    historyOn('one'),
    historyOn('two'),
  ]);
  expect(first.kinds.length).toBeGreaterThan(60);
  expect(new Set(first.kinds.map((kind) => kind.split(' ')[0])).size).toBeGreaterThan(3);
  expect(first.entries.length).toBeGreaterThan(5_000);
  expect(first.blocks.equals(second.blocks)).toBe(true);
  expect(first.entries.equals(second.entries)).toBe(true);
  // With other secrets, other commitments to the same changes
  expect(other.kinds).toEqual(first.kinds);
  expect(first.blocks.equals(other.blocks)).toBe(false);
});
