// A node that answers queries about the journal falsely: verify() names the block that it altered,
// hid, repeated or moved.

import { IDL } from '@dfinity/candid';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import type { JournalTip } from '../../packages/client/src/types/journal.ts';
import {
  JournalBlocks,
  ResultJournalPage,
  TipCertificate,
} from '../../src/actor/candid/journal.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

const bucket = 'demo';
const count = 12;

type Value = { Text?: string; Nat?: bigint; Blob?: Uint8Array };
type Map = [string, Value][];
interface Block {
  id: bigint;
  block: { Map: Map };
}
interface Entry {
  seq: bigint;
  at: bigint;
  kind: string;
  subject: string;
  version: bigint[];
  digest: string[];
  proof: { subjectSalt: Uint8Array; detailsSalt: Uint8Array };
}
interface Proof {
  certificate: Uint8Array;
  hash_tree: Uint8Array;
}

let service: Service;
let owner: Storage;
let noted: JournalTip;

beforeAll(async () => {
  service = await openService({ faults: {} });
  const { host, canisterId } = service;
  const retry = { attemptsMax: 1, delayMsMin: 1, delayMsMax: 2 };
  const identity = identityFromPem(service.identityPem);
  owner = createStorage({ host, canisterId, identity, retry });
  for (let file = 0; file < count; file++) {
    await owner.upload(sampleBytes(`${file}`, 10), { bucket, path: `${file}` });
  }
  noted = (await owner.journal.verify({ bucket })).tip;
});
afterEach(() => service.replica?.setFaults({}));
afterAll(() => service?.stop());

/** Lets the node change each reply of the method. */
function lie<T>(method: string, type: IDL.Type, change: (reply: T) => T): void {
  service.replica?.setFaults({
    forge(query, reply) {
      if (query.method !== method) return undefined;
      const [decoded] = IDL.decode([type], reply as never) as unknown as [T];
      return new Uint8Array(IDL.encode([type], [change(decoded)]));
    },
  });
}

function lieAboutBlocks(change: (blocks: Block[]) => Block[]): void {
  type Answer = { blocks: Block[] };
  lie<Answer>('icrc3_get_blocks', JournalBlocks, (answer) => {
    return { ...answer, blocks: answer.blocks.length < 2 ? answer.blocks : change(answer.blocks) };
  });
}

function withField(blocks: Block[], id: number, name: string, value: Value): Block[] {
  return blocks.map((block) => {
    if (block.id !== BigInt(id)) return block;
    const fields = block.block.Map.filter(([field]) => field !== name);
    return { ...block, block: { Map: [...fields, [name, value]] } };
  });
}

/** Numbers the blocks as a node does that hides what it has changed. */
const renumbered = (blocks: Block[]) => blocks.map((block, at) => ({ ...block, id: BigInt(at) }));

const swapped = ([a, b, c, ...others]: Block[]) => [a, c, b, ...others] as Block[];

const lies: [string, string, number | number[], (blocks: Block[]) => Block[]][] = [
  ['another kind', 'altered', 5, (all) => withField(all, 5, 'btype', { Text: 'efs.file.moved' })],
  ['another time', 'altered', 5, (all) => withField(all, 5, 'ts', { Nat: 1n })],
  [
    'another commitment',
    'altered',
    5,
    (all) => withField(all, 5, 'entry', { Blob: new Uint8Array(32) }),
  ],
  [
    'another parent',
    'altered',
    5,
    (all) => withField(all, 5, 'phash', { Blob: new Uint8Array(32) }),
  ],
  ['a field of another type', 'altered', 5, (all) => withField(all, 5, 'ts', { Text: 'now' })],
  [
    'a short commitment',
    'altered',
    5,
    (all) => withField(all, 5, 'entry', { Blob: Uint8Array.of(1) }),
  ],
  ['a hidden block', 'missing', 4, (all) => all.filter(({ id }) => id !== 4n)],
  ['a hidden end', 'missing', 4, (all) => all.filter(({ id }) => id < 4n)],
  ['a repeated block', 'repeated', 1, ([a, b, ...others]) => [a, b, b, ...others] as Block[]],
  ['two blocks in the wrong order', 'reordered', 1, swapped],
  [
    'a repeated block with its own number',
    'repeated',
    1,
    ([a, b, ...others]) => renumbered([a, b, b, ...others].slice(0, -1) as Block[]),
  ],
  [
    'two blocks in the wrong order with other numbers',
    'reordered',
    1,
    (all) => renumbered(swapped(all)),
  ],
];

describe('Storage.journal.verify() with a lying node', () => {
  test.each(lies)('names the block of %s', async (_, fault, block, change) => {
    lieAboutBlocks(change);
    await expect(owner.journal.verify()).rejects.toMatchObject({
      code: 'IntegrityError',
      message: expect.stringContaining(`Block ${block} of the journal is ${fault}`),
      details: { block, fault },
    });
  });

  test('detects a hidden block whose followers have other numbers', async () => {
    lieAboutBlocks((all) => renumbered(all.filter(({ id }) => id !== 4n)));
    await expect(owner.journal.verify()).rejects.toMatchObject({ code: 'IntegrityError' });
  });

  test('detects an altered last block, which no other block contains', async () => {
    const { index } = noted;
    lieAboutBlocks((all) => withField(all, index, 'ts', { Nat: 1n }));
    await expect(owner.journal.verify()).rejects.toMatchObject({
      details: { block: index, fault: 'altered' },
    });
  });

  test('refuses a tip that the network has not signed', async () => {
    const tip = IDL.Opt(TipCertificate);
    const flip = (bytes: Uint8Array) => bytes.with(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1);
    const changes: ((proof: Proof) => Proof)[] = [
      ({ hash_tree, ...proof }) => ({ ...proof, hash_tree: flip(hash_tree) }),
      ({ certificate, ...proof }) => ({ ...proof, certificate: flip(certificate) }),
    ];
    for (const change of changes) {
      lie<Proof[]>('icrc3_get_tip_certificate', tip, ([proof]) => (proof ? [change(proof)] : []));
      await expect(owner.journal.verify()).rejects.toMatchObject({ code: 'Untrusted' });
    }
  });

  test('refuses an empty journal, which no certificate proves', async () => {
    lie<Proof[]>('icrc3_get_tip_certificate', IDL.Opt(TipCertificate), () => []);
    await expect(owner.journal.verify()).rejects.toMatchObject({
      code: 'Untrusted',
      message: expect.stringContaining('the journal is empty'),
    });
  });

  const entryLies: [string, (entry: Entry) => Entry][] = [
    ['path', (entry) => ({ ...entry, subject: 'other' })],
    ['kind', (entry) => ({ ...entry, kind: 'file.deleted' })],
    ['time', (entry) => ({ ...entry, at: entry.at + 1_000_000n })],
    ['version', (entry) => ({ ...entry, version: [99n] })],
    ['digest', (entry) => ({ ...entry, digest: entry.digest.map((digits) => `${digits}x`) })],
    [
      'salt',
      ({ proof, ...entry }) => ({
        ...entry,
        proof: { ...proof, subjectSalt: proof.subjectSalt.slice(1) },
      }),
    ],
  ];

  test.each(entryLies)('detects another %s of an entry', async (_, change) => {
    type Page = { ok: { entries: Entry[] } };
    const lied = 5;
    let changed = 0n;
    lie<Page>('readJournal', ResultJournalPage, ({ ok }) => {
      const entry = ok.entries[lied];
      if (entry === undefined) return { ok };
      changed = entry.seq;
      return { ok: { ...ok, entries: ok.entries.with(lied, change(entry)) } };
    });
    await expect(owner.journal.verify({ bucket })).rejects.toMatchObject({
      code: 'IntegrityError',
      details: { fault: 'altered' },
    });
    expect(changed).toBeGreaterThan(0n);
  });

  test('detects a repeated entry, and entries in the wrong order', async () => {
    type Page = { ok: { entries: Entry[] } };
    lie<Page>('readJournal', ResultJournalPage, ({ ok }) => {
      return { ok: { ...ok, entries: [...ok.entries.slice(0, 1), ...ok.entries] } };
    });
    const repeated = { code: 'IntegrityError', details: { fault: 'repeated' } };
    await expect(owner.journal.verify({ bucket })).rejects.toMatchObject(repeated);
    lie<Page>('readJournal', ResultJournalPage, ({ ok }) => {
      return { ok: { ...ok, entries: ok.entries.toReversed() } };
    });
    const reordered = { code: 'IntegrityError', details: { fault: 'reordered' } };
    await expect(owner.journal.verify({ bucket })).rejects.toMatchObject(reordered);
  });

  test('accepts the same journal from an honest node', async () => {
    const { tip, entries } = await owner.journal.verify({ bucket, since: noted });
    expect(tip).toEqual(noted);
    expect(entries).toBeGreaterThanOrEqual(count);
  });
});
