// The journal's log against a slow twin of its blocks: ICRC-3, "Value" and its
// representation-independent hash.

import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { entrySalts, openEntry } from '../../src/domain/journal/entry-seal.ts';
import { type JournalLog, openJournalLog } from '../../src/storage/journal-log.ts';
import { stableSize } from '../../src/storage/stable-space.ts';
import { installNodeKernel, type KernelHost } from '../support/kernel-host.ts';

const kinds = ['efs.file.stored', 'efs.file.deleted'];
const blockHashes = createBlockHashes();
const keys = Uint8Array.from({ length: 64 }, (_, index) => index);
const ownerName = Buffer.from('films');
const sha256 = (...parts: Uint8Array[]) =>
  createHash('sha256').update(Buffer.concat(parts)).digest();

function createBlockHashes(): Uint8Array {
  const texts = ['btype', 'ts', 'phash', 'entry', ...kinds];
  return Buffer.concat(texts.map((text) => createHash('sha256').update(text).digest()));
}

let host: KernelHost;
let log: JournalLog;
let owner: number;

beforeEach(async () => {
  host = await installNodeKernel();
  log = openJournalLog(8, () => blockHashes);
  owner = log.newOwner();
});

interface Given {
  readonly kind: number;
  readonly ms: number;
  readonly details: Uint8Array;
  readonly subject: Uint8Array;
}

function given(index: number, subjectBytes = 30): Given {
  const details = new Uint8Array(64).fill(index);
  const subject = new Uint8Array(subjectBytes).fill(index + 1);
  return { kind: index % kinds.length, ms: 1_790_000_000_000 + 60_000 * index, details, subject };
}

const append = (entry: Given, by = owner) => log.append({ ...entry, keys, ownerName, owner: by });

function leb128(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 128n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return Uint8Array.of(...bytes, Number(left));
}

/** Returns the commitment to an entry. */
function commitmentOf({ details, subject }: Given, number: number): Uint8Array {
  const count = Buffer.alloc(8);
  count.writeBigUInt64LE(BigInt(number));
  const salts = sha256(keys.subarray(32), count);
  const subjectHash = sha256(salts.subarray(16), subject);
  return sha256(salts.subarray(0, 16), details, subjectHash);
}

/** Returns the hash of a block as ICRC-3 defines it for any map. */
function blockHash(entry: Given, number: number, before: Uint8Array): Uint8Array {
  const fields: [string, Uint8Array][] = [
    ['btype', Buffer.from(kinds[entry.kind] ?? '')],
    ['entry', commitmentOf(entry, number)],
    ['ts', leb128(BigInt(entry.ms) * 1_000_000n)],
  ];
  if (number > 1) fields.push(['phash', before]);
  const pairs = fields.map(([name, value]) =>
    Buffer.concat([sha256(Buffer.from(name)), sha256(value)]),
  );
  return sha256(...pairs.sort(Buffer.compare));
}

describe('openJournalLog()', () => {
  test('append() numbers entries and chains the hashes of their blocks', () => {
    expect(log.tip()).toEqual({ last: 0, first: 1, hash: new Uint8Array(32) });
    const hashes: Uint8Array[] = [new Uint8Array(32)];
    for (let index = 0; index < 300; index++) {
      const entry = given(index);
      expect(append(entry)).toEqual({ number: index + 1, count: index + 1 });
      hashes.push(blockHash(entry, index + 1, hashes.at(-1) as Uint8Array));
      expect(Buffer.from(log.tip().hash)).toEqual(hashes.at(-1));
    }
    for (const from of [1, 2, 103, 104, 300]) {
      const [first, ...others] = log.readChained(from, 150);
      expect(first?.number).toBe(from);
      for (const entry of first === undefined ? [] : [first, ...others]) {
        expect(Buffer.from(entry.hashBefore)).toEqual(Buffer.from(hashes[entry.number - 1] ?? ''));
      }
    }
    expect(log.readChained(301, 1)).toEqual([]);
  });

  test('read() returns what append() got, after an upgrade too', async () => {
    const stored = Array.from({ length: 250 }, (_, index) => given(index));
    for (const entry of stored) append(entry);
    host = await installNodeKernel({ system: host.system });
    log = openJournalLog(8, () => blockHashes);
    let number = 1;
    while (number <= stored.length) {
      const entries = log.read(number, 40);
      expect(entries.length).toBeGreaterThan(0);
      for (const entry of entries) {
        const expected = stored[number - 1] as Given;
        expect(entry).toMatchObject({ number, kind: expected.kind, ms: expected.ms });
        expect(entry.previous).toBe(number - 1);
        const opened = openEntry(entry, { keys, ownerName });
        expect(opened && Buffer.from(opened)).toEqual(
          Buffer.concat([expected.details, expected.subject]),
        );
        expect(Buffer.from(entry.commitment)).toEqual(commitmentOf(expected, number));
        number += 1;
      }
    }
    expect(log.read(251, 10)).toEqual([]);
    expect(log.read(0, 10)).toEqual([]);
  });

  test('openEntry() opens with the right key and owner only', () => {
    append(given(1));
    const [entry] = log.read(1, 1) as [ReturnType<JournalLog['read']>[number]];
    expect(openEntry(entry, { keys, ownerName: Buffer.from('film') })).toBeUndefined();
    expect(openEntry(entry, { keys: new Uint8Array(64), ownerName })).toBeUndefined();
    expect(openEntry({ ...entry, ms: entry.ms + 1 }, { keys, ownerName })).toBeUndefined();
    expect(
      openEntry({ ...entry, sealed: entry.sealed.subarray(1) }, { keys, ownerName }),
    ).toBeUndefined();
    expect(entrySalts(1, keys)).not.toEqual(entrySalts(2, keys));
  });

  test('append() stores a subject up to the limit, and refuses a longer one unchanged', () => {
    append(given(1, 4_032));
    const before = host.system.stable.slice();
    expect(() => append(given(2, 4_033))).toThrow('Cannot call the kernel: the subject');
    expect(Buffer.compare(host.system.stable, before)).toBe(0);
    for (let index = 0; index < 20; index++) append(given(index, 4_000));
    expect(log.read(1, 100)).toHaveLength(21);
    expect(log.tip().last).toBe(21);
  });

  test('cut() frees the oldest page, whose bytes are erased, and reuses it', () => {
    for (let index = 0; index < 400; index++) append(given(index));
    const before = { tip: log.tip(), pages: stableSize(), hash: log.readChained(300, 1) };
    expect(log.cut(given(0).ms)).toBe(false);
    expect(log.cut(given(399).ms)).toBe(true);
    expect(log.cut(given(399).ms)).toBe(true);
    const { first } = log.tip();
    expect(first).toBeGreaterThan(200);
    expect(log.tip()).toEqual({ ...before.tip, first });
    expect(log.read(first - 1, 1)).toEqual([]);
    expect(log.get(first - 1)).toBeUndefined();
    expect(log.read(first, 1)[0]?.number).toBe(first);
    expect(log.readChained(300, 1)).toEqual(before.hash);
    const twin = Buffer.from(given(5).subject);
    expect(Buffer.from(host.system.stable).includes(twin)).toBe(false);
    for (let index = 400; index < 600; index++) append(given(index));
    expect(stableSize()).toBe(before.pages);
    expect(log.read(599, 10).map(({ number }) => number)).toEqual([599, 600]);
    for (; log.cut(given(10_000).ms); );
    expect(log.tip().first).toBeGreaterThan(500);
    expect(log.read(600, 1)).toHaveLength(1);
  });

  test('append() takes at most 160 bytes for an entry with a path of 30 bytes', () => {
    const details = new Uint8Array(65);
    for (let index = 0; index < 10_000; index++) append({ ...given(index), details });
    const space = 10_000 * 160;
    expect(stableSize() * 65_536).toBeLessThan(space + 5 * 2 ** 20);
    const [entry] = log.read(5_000, 1);
    // Entries in pages of 16 KiB, and 48 bytes of the directory for each page
    const bytes = 46 + (entry?.sealed.length ?? 0);
    const perPage = Math.floor(16_384 / bytes);
    expect((16_384 + 48) / perPage).toBeLessThanOrEqual(160);
  });
});
