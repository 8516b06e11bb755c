// The journal's log against slow twins: its blocks against ICRC-3, "Value" and its
// representation-independent hash, its Candid against the library's decoder.

import { createHash } from 'node:crypto';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { beforeEach, describe, expect, test } from 'vitest';
import { JournalBlock, JournalEntry } from '../../src/actor/candid/journal.ts';
import { messageHead } from '../../src/actor/candid/result.ts';
import { leb128 } from '../../src/lib/leb128.ts';
import {
  type Encoded,
  type EntryRange,
  type JournalLog,
  openJournalLog,
} from '../../src/storage/journal-log.ts';
import { stableSize } from '../../src/storage/stable-space.ts';
import { installNodeKernel, type KernelHost } from '../support/kernel-host.ts';

const kinds = ['file.stored', 'file.deleted', 'key.created'];
const types = kinds.map((kind) => `efs.${kind}`);
const withLengths = (texts: string[]) =>
  Buffer.concat(texts.map((text) => Buffer.from([text.length, ...Buffer.from(text)])));
const kindNames = withLengths(kinds);
const typeNames = withLengths(types);
const blockHashes = createBlockHashes();
const keys = Uint8Array.from({ length: 64 }, (_, index) => index);
const ownerName = Buffer.from('films');
const by = { keys, ownerName };
const sha256 = (...parts: Uint8Array[]) =>
  createHash('sha256').update(Buffer.concat(parts)).digest();

function createBlockHashes(): Uint8Array {
  const texts = ['btype', 'ts', 'phash', 'entry', ...types];
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
  readonly actor: { principal: Principal } | { apiKey: string } | { canister: null };
  readonly version: number;
  readonly digest: Uint8Array;
  readonly details: Uint8Array;
  readonly subject: Uint8Array;
}

const actors = [
  { canister: null },
  { principal: Principal.fromText('2vxsx-fae') },
  { apiKey: 'k1234567' },
];

/** Returns the number of pages since the start, as the log notes it behind its magic number. */
function usedPages(): number {
  const at = Buffer.from(host.system.stable).indexOf('\0EFSJRN1');
  return Number(Buffer.from(host.system.stable).readBigUInt64LE(at + 24));
}

function idOf(actor: Given['actor']): Uint8Array {
  if ('principal' in actor) return actor.principal.toUint8Array();
  return 'apiKey' in actor ? Buffer.from(actor.apiKey) : Buffer.of();
}

/** Returns an entry that differs from others in every field. */
function given(index: number, subjectBytes = 30): Given {
  const actor = (actors[index % actors.length] ?? { canister: null }) as Given['actor'];
  const id = idOf(actor);
  const version = index * 50;
  const digest = new Uint8Array(index % 4 === 0 ? 0 : 32).fill(index);
  const head = 64 * (index % actors.length) + (digest.length > 0 ? 32 : 0) + id.length;
  const details = Buffer.concat([Buffer.of(head), id, leb128(version), digest]);
  const subject = new Uint8Array(subjectBytes).fill(97 + (index % 26));
  const ms = 1_790_000_000_000 + 60_000 * index;
  return { kind: index % kinds.length, ms, actor, version, digest, details, subject };
}

const append = (entry: Given, of = owner) => log.append({ ...entry, ...by, owner: of });

function saltsOf(number: number): Buffer {
  const count = Buffer.alloc(8);
  count.writeBigUInt64LE(BigInt(number));
  return sha256(keys.subarray(32), count);
}

function subjectHashOf({ subject }: Given, number: number): Buffer {
  return sha256(saltsOf(number).subarray(16), subject);
}

/** Returns the commitment to an entry. */
function commitmentOf(entry: Given, number: number): Buffer {
  const salt = saltsOf(number).subarray(0, 16);
  return sha256(salt, entry.details, subjectHashOf(entry, number));
}

/** Returns the hash of a block as ICRC-3 defines it for any map. */
function blockHash(entry: Given, number: number, before: Uint8Array): Uint8Array {
  const fields: [string, Uint8Array][] = [
    ['btype', Buffer.from(types[entry.kind] ?? '')],
    ['entry', commitmentOf(entry, number)],
    ['ts', leb128(entry.ms * 1_000_000)],
  ];
  if (number > 1) fields.push(['phash', before]);
  const pairs = fields.map(([name, value]) =>
    Buffer.concat([sha256(Buffer.from(name)), sha256(value)]),
  );
  return sha256(...pairs.sort(Buffer.compare));
}

/** Decodes Candid values that follow one another. */
function decoded<T>(type: IDL.Type, { bytes, count }: Encoded): T[] {
  const vec = IDL.Vec(type);
  const message = Buffer.concat([messageHead(vec), leb128(count), bytes]);
  return IDL.decode([vec], new Uint8Array(message))[0] as T[];
}

interface Entry {
  readonly seq: bigint;
  readonly subject: string;
}

const all: EntryRange = { start: 0, isForward: true, bound: 0, fromMs: 0, limit: 10_000 };

/** Reads page by page up to the limit. */
function entries(range: Partial<EntryRange> = {}, keysOf = by): Entry[] {
  const whole = { ...all, start: log.lastOf(owner), ...range };
  const found: Entry[] = [];
  for (let { bound, limit } = whole; ; ) {
    const page = log.entries({ ...whole, bound, limit }, keysOf, kindNames);
    found.push(...decoded<Entry>(JournalEntry, page));
    limit -= page.count;
    if (!page.hasMore || limit === 0) return found;
    bound = Number(found.at(-1)?.seq);
  }
}

const numbers = (range: Partial<EntryRange>) => entries(range).map(({ seq }) => Number(seq));

/** Returns the entry as the library decodes it. */
function shown(entry: Given, seq: number) {
  const salts = saltsOf(seq);
  return {
    seq: BigInt(seq),
    at: BigInt(entry.ms) * 1_000_000n,
    kind: kinds[entry.kind],
    by: entry.actor,
    subject: Buffer.from(entry.subject).toString(),
    version: entry.version === 0 ? [] : [BigInt(entry.version)],
    digest: entry.digest.length === 0 ? [] : [Buffer.from(entry.digest).toString('hex')],
    proof: {
      detailsSalt: new Uint8Array(salts.subarray(0, 16)),
      subjectSalt: [new Uint8Array(salts.subarray(16))],
      subjectHash: [],
    },
  };
}

describe('openJournalLog()', () => {
  test('append() numbers entries and chains the hashes of their blocks', () => {
    expect(log.tip()).toEqual({ last: 0, first: 1, hash: new Uint8Array(32) });
    const stored = Array.from({ length: 300 }, (_, index) => given(index));
    const hashes: Uint8Array[] = [];
    for (const [index, entry] of stored.entries()) {
      expect(append(entry)).toEqual({ number: index + 1, count: index + 1 });
      hashes.push(blockHash(entry, index + 1, hashes.at(-1) ?? Buffer.alloc(32)));
      expect(Buffer.from(log.tip().hash)).toEqual(hashes.at(-1));
    }
    const blocks = stored.map((entry, index) => {
      const fields: [string, object][] = [
        ['btype', { Text: types[entry.kind] }],
        ['entry', { Blob: new Uint8Array(commitmentOf(entry, index + 1)) }],
        ['ts', { Nat: BigInt(entry.ms) * 1_000_000n }],
      ];
      const before = hashes[index - 1];
      if (before !== undefined) fields.push(['phash', { Blob: new Uint8Array(before) }]);
      return { id: BigInt(index), block: { Map: fields } };
    });
    for (const [from, limit] of [
      [1, 500],
      [2, 1],
      [103, 30],
      [104, 150],
      [300, 5],
      [301, 5],
    ]) {
      const found = decoded(JournalBlock, log.blocks(from ?? 0, limit ?? 0, typeNames));
      expect(found).toEqual(blocks.slice((from ?? 0) - 1, (from ?? 0) - 1 + (limit ?? 0)));
    }
    expect(log.blocks(0, 5, typeNames).count).toBe(0);
  });

  test('entries() returns what append() got, after an upgrade too', async () => {
    const stored = Array.from({ length: 250 }, (_, index) => given(index, (index * 7) % 90));
    for (const entry of stored) append(entry);
    host = await installNodeKernel({ system: host.system });
    log = openJournalLog(8, () => blockHashes);
    expect(entries()).toEqual(stored.map((entry, index) => shown(entry, index + 1)));
    expect(entries({ isForward: false, bound: 251 }).map(({ seq }) => Number(seq))).toEqual(
      stored.map((_, index) => 250 - index),
    );
    const { bytes, count } = log.entries({ ...all, start: 2 }, by, new Uint8Array());
    expect(count).toBe(2);
    const first = stored[0] as Given;
    const padding = 32 - first.subject.length;
    const content = Buffer.concat([first.details, first.subject, Buffer.alloc(padding)]);
    expect(Buffer.from(bytes.subarray(54, 54 + content.length))).toEqual(content);
  });

  test('entries() follows one owner, within bounds, times and limits', () => {
    const other = log.newOwner();
    for (let index = 0; index < 400; index++) append(given(index), index % 4 === 1 ? other : owner);
    const own = Array.from({ length: 400 }, (_, index) => index + 1).filter((n) => n % 4 !== 2);
    expect(numbers({})).toEqual(own);
    expect(numbers({ bound: 100, limit: 10 })).toEqual(own.filter((n) => n > 100).slice(0, 10));
    const back = { isForward: false, bound: 200, limit: 7 };
    expect(numbers(back)).toEqual(
      own
        .filter((n) => n < 200)
        .reverse()
        .slice(0, 7),
    );
    expect(numbers({ fromMs: given(380).ms })).toEqual(own.filter((n) => n >= 381));
    const page = (range: Partial<EntryRange>) =>
      log.entries({ ...all, start: log.lastOf(owner), ...range }, by, kindNames);
    const last = own.filter((n) => n > 300).length;
    expect(page({ bound: 300, limit: last })).toMatchObject({ count: last, hasMore: false });
    expect(page({ bound: 300, limit: last - 1 }).hasMore).toBe(true);
    expect(page({ ...back, bound: 8, limit: 5 })).toMatchObject({ count: 5, hasMore: false });
    expect(page({ ...back, bound: 8, limit: 4 })).toMatchObject({ count: 4, hasMore: true });
    expect(page({ start: 0 })).toMatchObject({ count: 0, hasMore: false });
  });

  test('entries() returns long entries as they fit, and says that more follow', () => {
    for (let index = 0; index < 60; index++) append(given(index, 4_000));
    const found: Entry[] = [];
    let pages = 0;
    for (let more = true; more; ) {
      const bound = Number(found.at(-1)?.seq ?? 0n);
      const page = log.entries({ ...all, start: 60, bound }, by, kindNames);
      expect(page.count).toBeGreaterThan(0);
      pages += 1;
      found.push(...decoded<Entry>(JournalEntry, page));
      more = page.hasMore;
    }
    expect(found.map(({ seq }) => Number(seq))).toEqual(Array.from(found, (_, at) => at + 1));
    expect(found).toHaveLength(60);
    expect(pages).toBeLessThan(20);
  });

  test('entries() ends a page early if entries are in many pages of the log', () => {
    const other = log.newOwner();
    // One of 130 entries is the owner's, so each is in a page of its own
    for (let index = 0; index < 13_000; index++) {
      append(given(index), index % 130 === 7 ? owner : other);
    }
    const own = Array.from({ length: 100 }, (_, index) => 130 * index + 8);
    const read = (range: Partial<EntryRange>) => {
      const page = log.entries(
        { ...all, start: own[63] ?? 0, limit: 100, ...range },
        by,
        kindNames,
      );
      return { ...page, found: decoded<Entry>(JournalEntry, page).map(({ seq }) => Number(seq)) };
    };
    const after = read({ bound: 0 });
    expect(after.found).toEqual(own.slice(0, after.count));
    expect(after.count).toBeGreaterThanOrEqual(32);
    const many = read({ start: own[99] ?? 0, bound: 0 });
    expect(many.found).toEqual(own.slice(0, many.count));
    expect(many.count).toBeGreaterThanOrEqual(32);
    expect(many.count).toBeLessThan(100);
    const rest = read({ bound: own[after.count - 1] ?? 0 });
    expect(rest.found).toEqual(own.slice(after.count, 64));
    expect([many.hasMore, rest.hasMore]).toEqual([true, false]);
    const found: number[] = [];
    for (let bound = 13_001, more = true; more; ) {
      const page = read({ start: own[99] ?? 0, isForward: false, bound });
      expect(page.count).toBeGreaterThanOrEqual(1);
      found.push(...page.found);
      [bound, more] = [found.at(-1) ?? 0, page.hasMore];
    }
    expect(found).toEqual(own.toReversed());
  });

  test('numberFrom() finds the first entry that is not older', () => {
    expect(log.numberFrom(0)).toBe(1);
    for (let index = 0; index < 500; index++) append(given(index));
    for (const index of [0, 1, 52, 53, 54, 255, 498, 499]) {
      const { ms } = given(index);
      expect(log.numberFrom(ms)).toBe(index + 1);
      expect(log.numberFrom(ms - 1)).toBe(index + 1);
      expect(log.numberFrom(ms + 1)).toBe(index + 2);
    }
    for (; log.cut(given(300).ms); );
    expect(log.numberFrom(0)).toBe(log.tip().first);
    expect(log.numberFrom(given(400).ms)).toBe(401);
  });

  test('entries() opens with the right keys and owner only, and what was not altered', () => {
    for (let index = 0; index < 3; index++) append(given(index));
    const altered = 'Entry 1 of the journal was altered';
    expect(() => entries({}, { keys, ownerName: Buffer.from('film') })).toThrow(altered);
    expect(() => entries({}, { keys: new Uint8Array(64), ownerName })).toThrow(altered);
    const sealed = Buffer.from(host.system.stable).indexOf(commitmentOf(given(1), 2)) + 40;
    host.system.stable[sealed] = (host.system.stable[sealed] ?? 0) ^ 1;
    expect(() => entries()).toThrow('Entry 2 of the journal was altered');
  });

  test('redact() replaces a subject by its hash, once, and keeps chain and stored bytes', () => {
    for (let index = 0; index < 150; index++) append(given(index, index % 50));
    const before = { blocks: log.blocks(1, 150, typeNames), pages: stableSize(), tip: log.tip() };
    expect(log.redact(7, { keys, ownerName: Buffer.from('film') })).toBe(false);
    expect(log.redact(151, by)).toBe(false);
    expect(log.redact(7, by)).toBe(true);
    expect(log.redact(7, by)).toBe(false);
    expect(log.redact(149, by)).toBe(true);
    const found = entries();
    for (const seq of [7, 149]) {
      const entry = given(seq - 1, (seq - 1) % 50);
      const { proof, ...fields } = shown(entry, seq);
      const subjectHash = [new Uint8Array(subjectHashOf(entry, seq))];
      expect(found[seq - 1]).toEqual({
        ...fields,
        subject: '',
        proof: { ...proof, subjectSalt: [], subjectHash },
      });
    }
    expect(found[7]).toEqual(shown(given(7, 7), 8));
    expect({ blocks: log.blocks(1, 150, typeNames), pages: stableSize(), tip: log.tip() }).toEqual(
      before,
    );
  });

  test('append() stores a subject up to the limit, and refuses a longer one unchanged', () => {
    const { details } = given(1);
    append(given(1, 4_096 - details.length));
    const before = host.system.stable.slice();
    const longer = { ...given(1, 4_097 - details.length) };
    expect(() => append(longer)).toThrow('Cannot call the kernel: the subject');
    expect(Buffer.compare(host.system.stable, before)).toBe(0);
    expect(log.tip().last).toBe(1);
  });

  test('cut() frees the oldest page, whose bytes are erased, and reuses it', () => {
    for (let index = 0; index < 400; index++) append(given(index));
    const before = { tip: log.tip(), pages: stableSize(), blocks: log.blocks(300, 1, typeNames) };
    expect(log.cut(given(0).ms)).toBe(false);
    expect(log.cut(given(399).ms)).toBe(true);
    expect(log.cut(given(399).ms)).toBe(true);
    const { first } = log.tip();
    expect(first).toBeGreaterThan(100);
    expect(log.tip()).toEqual({ ...before.tip, first });
    expect(numbers({ limit: 3 })).toEqual([first, first + 1, first + 2]);
    expect(log.blocks(first - 1, 1, typeNames).count).toBe(0);
    expect(log.blocks(300, 1, typeNames)).toEqual(before.blocks);
    expect(Buffer.from(host.system.stable).includes(commitmentOf(given(4), 5))).toBe(false);
    for (let index = 400; index < 600; index++) append(given(index));
    expect(stableSize()).toBe(before.pages);
    expect(numbers({ bound: 598 })).toEqual([599, 600]);
    for (; log.cut(given(10_000).ms); );
    expect(log.tip().first).toBeGreaterThan(500);
    expect(numbers({ bound: 599 })).toEqual([600]);
  });

  test('append() takes at most 160 bytes for an entry with a path of 30 bytes', () => {
    // By a principal of 29 bytes, with a digest and a version below 128
    const details = Buffer.concat([Buffer.of(64 + 32 + 29), Buffer.alloc(29 + 1 + 32, 7)]);
    const entry = { ...given(1), details };
    for (let index = 0; index < 10_000; index++) append(entry);
    expect(stableSize() * 65_536).toBeLessThan(10_000 * 160 + 5 * 2 ** 20);
    const bytes = 46 + details.length + 32 + 16;
    expect(bytes).toBe(157);
    // Entries in pages of 8 KiB, and 48 bytes of the directory for each page
    expect((8_192 + 48) / Math.floor(8_192 / bytes)).toBeLessThan(159);
    expect(log.tip().last).toBe(10_000);
    expect(usedPages()).toBe(Math.ceil(10_000 / 52));
  });
});
