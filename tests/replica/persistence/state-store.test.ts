// Both stores compared with a reference model: one Buffer per canister, copied at each commit.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { type StateStore, wasmPageBytes } from '../../../packages/replica/src/core.ts';
import { openDiskStore } from '../../../packages/replica/src/persistence/disk-store.ts';
import { createMemoryStore } from '../../../packages/replica/src/persistence/memory-store.ts';

const folders = mkdtempSync(join(tmpdir(), 'replica-store-'));
afterAll(() => rmSync(folders, { recursive: true, force: true }));

const ids = ['aaaaa-aa', 'rrkah-fqaaa-aaaaa-aaaaq-cai'] as const;
type Id = (typeof ids)[number];

interface Reference {
  readonly memory: Record<Id, Buffer>;
  readonly records: Map<Id, string>;
  readonly values: Map<string, string>;
}

type Step =
  | { readonly kind: 'grow'; readonly id: Id; readonly pages: number }
  | { readonly kind: 'write'; readonly id: Id; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'fill'; readonly id: Id; readonly at: number; readonly length: number }
  | { readonly kind: 'read'; readonly id: Id; readonly at: number; readonly length: number }
  | { readonly kind: 'rollback' | 'clear' | 'delete' | 'clearAndCommit'; readonly id: Id }
  | { readonly kind: 'commit'; readonly id: Id; readonly record: string }
  | { readonly kind: 'setValue'; readonly name: string; readonly value: string }
  | { readonly kind: 'reopen' };

const id = fc.constantFrom(...ids);
const at = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const length = fc.nat(150_000);
const commonSteps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('grow' as const), id, pages: fc.nat(3) }),
  fc.record({
    kind: fc.constant('write' as const),
    id,
    at,
    bytes: fc.uint8Array({ maxLength: 40 }),
  }),
  fc.record({ kind: fc.constant('fill' as const), id, at, length }),
  fc.record({ kind: fc.constant('read' as const), id, at, length }),
  fc.record({ kind: fc.constant('commit' as const), id, record: fc.string({ maxLength: 9 }) }),
);
const rareSteps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('rollback', 'clear', 'clearAndCommit', 'delete'), id }),
  fc.record({
    kind: fc.constant('setValue' as const),
    name: fc.constantFrom('x', 'y'),
    value: fc.string(),
  }),
  fc.record({ kind: fc.constant('reopen' as const) }),
);
const step = fc.oneof({ weight: 4, arbitrary: commonSteps }, { weight: 1, arbitrary: rareSteps });
const steps = fc.array(step, { minLength: 10, maxLength: 60, size: 'max' });

function copyOf(reference: Reference): Reference {
  const memory = Object.fromEntries(ids.map((name) => [name, Buffer.from(reference.memory[name])]));
  return {
    memory: memory as Record<Id, Buffer>,
    records: new Map(reference.records),
    values: new Map(reference.values),
  };
}

/**
 * A store under test and its reference model: the committed state, and the state in the running
 * message.
 */
class Pair {
  store: StateStore;
  readonly reopen: (store: StateStore) => StateStore;
  committed: Reference = {
    memory: { [ids[0]]: Buffer.alloc(0), [ids[1]]: Buffer.alloc(0) } as Record<Id, Buffer>,
    records: new Map(),
    values: new Map(),
  };
  seen: Reference = copyOf(this.committed);

  constructor(store: StateStore, reopen: (store: StateStore) => StateStore) {
    this.store = store;
    this.reopen = reopen;
  }

  run(one: Step): void {
    switch (one.kind) {
      case 'grow':
        expect(this.store.stableMemory(one.id).grow(one.pages)).toBe(
          this.seen.memory[one.id].length / wasmPageBytes,
        );
        this.seen.memory[one.id] = Buffer.concat([
          this.seen.memory[one.id],
          Buffer.alloc(one.pages * wasmPageBytes),
        ]);
        return;
      case 'write':
        this.write(one, one.bytes);
        return;
      case 'fill':
        this.write(one, new Uint8Array(one.length).fill(1 + (one.length % 255)));
        return;
      case 'read':
        this.compare(one);
        return;
      case 'rollback':
        this.store.stableMemory(one.id).rollback();
        this.seen.memory[one.id] = Buffer.from(this.committed.memory[one.id]);
        return;
      case 'clear':
        this.store.stableMemory(one.id).clear();
        this.seen.memory[one.id] = Buffer.alloc(0);
        return;
      case 'setValue':
        this.store.setValue(one.name, Buffer.from(one.value));
        this.committed.values.set(one.name, one.value);
        return;
      case 'reopen':
        this.store = this.reopen(this.store);
        for (const name of ids) this.store.stableMemory(name).rollback();
        this.seen = copyOf(this.committed);
        return;
      default:
        this.commit(one);
    }
  }

  write(where: { readonly id: Id; readonly at: number }, bytes: Uint8Array): void {
    const memory = this.seen.memory[where.id];
    const offset = Math.floor(where.at * memory.length);
    const fitting = bytes.subarray(0, memory.length - offset);
    this.store.stableMemory(where.id).write(offset, fitting);
    memory.set(fitting, offset);
  }

  /** Reads all at once and in small parts, since stores may use different code for each. */
  compare(where: { readonly id: Id; readonly at: number; readonly length: number }): void {
    const memory = this.seen.memory[where.id];
    const start = Math.floor(where.at * memory.length);
    const end = Math.min(memory.length, start + where.length);
    for (const pieceBytes of [end - start, 50_001]) {
      for (let offset = start; offset < end; offset += pieceBytes) {
        const found = Buffer.alloc(Math.min(pieceBytes, end - offset), 0xee);
        this.store.stableMemory(where.id).read(offset, found);
        const expected = memory.subarray(offset, offset + found.length);
        expect(Buffer.compare(found, expected), `${pieceBytes} bytes at ${offset}`).toBe(0);
      }
    }
  }

  commit(
    one: Extract<Step, { kind: 'commit' | 'delete' | 'clear' | 'rollback' | 'clearAndCommit' }>,
  ): void {
    const none = { canisters: [], stableMemories: [], cleared: [], deleted: [] };
    if (one.kind === 'commit') {
      const canisters = [{ id: one.id, record: Buffer.from(one.record) }];
      this.store.commit({ ...none, canisters, stableMemories: [one.id] });
      this.committed.records.set(one.id, one.record);
    } else {
      this.seen.memory[one.id] = Buffer.alloc(0);
      if (one.kind === 'clearAndCommit') this.store.commit({ ...none, cleared: [one.id] });
      else {
        this.store.commit({ ...none, deleted: [one.id] });
        this.committed.records.delete(one.id);
      }
    }
    this.committed.memory[one.id] = Buffer.from(this.seen.memory[one.id]);
  }

  check(): void {
    for (const name of ids) {
      const memory = this.store.stableMemory(name);
      expect(memory.pages() * wasmPageBytes).toBe(this.seen.memory[name].length);
      this.compare({ id: name, at: 0, length: this.seen.memory[name].length });
    }
    const records = this.store.load().map((one) => [one.id, Buffer.from(one.record).toString()]);
    expect(new Map(records as [Id, string][])).toEqual(this.committed.records);
    for (const [name, value] of this.committed.values) {
      expect(Buffer.from(this.store.getValue(name) ?? []).toString()).toBe(value);
    }
  }
}

function openFolder(folder: string): StateStore {
  return openDiskStore(folder, { sync: false, checkpointBytes: 300_000, cacheBytes: 262_144 });
}

let folderCount = 0;
const kinds = {
  'the memory store': () => new Pair(createMemoryStore(), (store) => store),
  'the disk store': () => {
    folderCount += 1;
    const folder = join(folders, String(folderCount));
    return new Pair(openFolder(folder), (store) => {
      store.close();
      return openFolder(folder);
    });
  },
};

describe.each(Object.entries(kinds))('%s', (_, makePair) => {
  test('agrees with plain buffers under random steps', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const pair = makePair();
        try {
          for (const one of list) {
            pair.run(one);
            pair.check();
          }
        } finally {
          pair.store.close();
        }
      }),
      { numRuns: 50 },
    );
  });

  test.each(['clear, then commit', 'commit as cleared', 'delete'])(
    'an emptied memory (%s) grows with zeros',
    (way) => {
      const pair = makePair();
      const id = ids[1];
      const change = { canisters: [], stableMemories: [id], cleared: [], deleted: [] };
      const expectZeros = () => {
        for (const length of [1, 9_000, 2 * wasmPageBytes]) {
          const found = new Uint8Array(length).fill(1);
          pair.store.stableMemory(id).read(0, found);
          expect(found.every((byte) => byte === 0)).toBe(true);
        }
      };
      const memory = pair.store.stableMemory(id);
      memory.grow(2);
      memory.write(0, new Uint8Array(2 * wasmPageBytes).fill(7));
      pair.store.commit(change);
      memory.read(5, new Uint8Array(10));
      if (way === 'clear, then commit') memory.clear();
      else if (way === 'delete')
        pair.store.commit({ ...change, stableMemories: [], deleted: [id] });
      else pair.store.commit({ ...change, stableMemories: [], cleared: [id] });
      expect(memory.pages()).toBe(0);
      memory.grow(2);
      expectZeros();
      pair.store.commit(change);
      expectZeros();
      pair.store = pair.reopen(pair.store);
      expect(pair.store.stableMemory(id).pages()).toBe(2);
      expectZeros();
      pair.store.close();
    },
  );

  test('a rollback restores cleared bytes', () => {
    const { store } = makePair();
    const memory = store.stableMemory(ids[1]);
    memory.grow(1);
    memory.write(100, Uint8Array.of(1, 2));
    store.commit({ canisters: [], stableMemories: [ids[1]], cleared: [], deleted: [] });
    memory.clear();
    memory.grow(3);
    memory.rollback();
    const found = new Uint8Array(2);
    memory.read(100, found);
    expect([memory.pages(), ...found]).toEqual([1, 1, 2]);
    store.close();
  });

  test('counts a page as dirty once, and none after commit or rollback', () => {
    const { store } = makePair();
    const memory = store.stableMemory(ids[1]);
    memory.grow(1);
    memory.write(4_090, new Uint8Array(10));
    memory.write(4_092, new Uint8Array(10));
    expect(memory.dirtyPages()).toBe(2);
    store.commit({ canisters: [], stableMemories: [ids[1]], cleared: [], deleted: [] });
    expect(memory.dirtyPages()).toBe(0);
    memory.write(0, new Uint8Array(1));
    memory.rollback();
    expect(memory.dirtyPages()).toBe(0);
    store.close();
  });

  test('refuses to grow past 500 GiB and is unchanged', () => {
    const { store } = makePair();
    const memory = store.stableMemory(ids[1]);
    expect(memory.grow(8_192_000)).toBe(0);
    expect(memory.grow(1)).toBe(-1);
    const far = 8_192_000 * wasmPageBytes - 3;
    memory.write(far, Uint8Array.of(1, 2, 3));
    const found = new Uint8Array(3);
    memory.read(far, found);
    expect([...found]).toEqual([1, 2, 3]);
    memory.rollback();
    expect(memory.pages()).toBe(0);
    store.close();
  });

  test('stores modules by their hash and returns undefined for an unknown hash', () => {
    const { store } = makePair();
    const module = Uint8Array.of(0, 97, 115, 109);
    const hash = createHash('sha256').update(module).digest('hex');
    expect(store.getModule(hash)).toBeUndefined();
    store.putModule(hash, module);
    expect([...(store.getModule(hash) ?? [])]).toEqual([...module]);
    store.close();
  });
});
