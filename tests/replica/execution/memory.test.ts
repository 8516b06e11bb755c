// The two ways to undo writes to memory (the heap's shadow, a query's stable memory), compared with
// reference models, and the bytes of the record.

import { Principal } from '@dfinity/principal';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeRecord,
  encodeRecord,
  newRecord,
} from '../../../packages/replica/src/execution/canister-record.ts';
import { HeapShadow } from '../../../packages/replica/src/execution/heap-shadow.ts';
import { QueryStable } from '../../../packages/replica/src/execution/query-stable.ts';
import { createMemoryStore } from '../../../packages/replica/src/persistence/memory-store.ts';

const wasmPage = 65_536;
const zeroPage = new Uint8Array(wasmPage);
const write = fc.record({
  offset: fc.nat({ max: 3 * wasmPage - 5_000 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 5_000 }),
});

describe('HeapShadow', () => {
  it('finds every page that differs, and restores each byte', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 8 }), (writes) => {
        const shadow = new HeapShadow();
        const live = Buffer.alloc(3 * wasmPage, 9);
        shadow.commit(live, shadow.scan(live));
        const before = Buffer.from(live);
        for (const { offset, bytes } of writes) live.set(bytes, offset);
        const dirty = shadow.scan(live);
        const expected = Array.from({ length: live.length / 4_096 }, (_, page) => page).filter(
          (page) => {
            const start = page * 4_096;
            return live.compare(before, start, start + 4_096, start, start + 4_096) !== 0;
          },
        );
        expect(dirty).toEqual(expected);
        shadow.restore(live, dirty);
        expect(live.equals(before)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('restores a fresh heap to the committed bytes, including zeros', () => {
    const cleared = fc.record({ page: fc.nat({ max: 3 }), bytes: fc.constant(zeroPage) });
    fc.assert(
      fc.property(fc.array(write), fc.array(cleared), (writes, clears) => {
        const fresh = Buffer.alloc(4 * wasmPage);
        fresh.fill(7, wasmPage, 2 * wasmPage + 1);
        const shadow = new HeapShadow();
        shadow.commit(fresh, shadow.scan(fresh));
        const live = Buffer.from(fresh);
        for (const { offset, bytes } of writes) live.set(bytes, offset);
        for (const { page, bytes } of clears) live.set(bytes, page * wasmPage);
        shadow.commit(live, shadow.scan(live));
        shadow.restoreAll(fresh);
        expect(fresh.equals(live)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('can hold a heap of 3.5 GiB', () => {
    const shadow = new HeapShadow();
    shadow.commit(Buffer.alloc(wasmPage, 1), []);
    // Never written to, so that the system allocates none of it.
    const large = Buffer.alloc(57_344 * wasmPage);
    large[large.length - 1] = 7;
    shadow.commit(large, [large.length / 4_096 - 1]);
    expect(shadow.size).toBe(large.length);
    expect(shadow.committed()[large.length - 1]).toBe(7);
  });

  it('reports pages of added memory only if they are not zero', () => {
    const shadow = new HeapShadow();
    const small = Buffer.alloc(wasmPage, 1);
    shadow.commit(small, shadow.scan(small));
    const grown = Buffer.concat([small, Buffer.alloc(wasmPage)]);
    expect(shadow.scan(grown)).toEqual([]);
    grown[wasmPage + 4_096] = 1;
    expect(shadow.scan(grown)).toEqual([17]);
    shadow.commit(grown, shadow.scan(grown));
    expect(shadow.size).toBe(2 * wasmPage);
    expect(shadow.scan(grown)).toEqual([]);
  });
});

describe('QueryStable', () => {
  it('reads its own writes over the stored bytes, and stores nothing', () => {
    fc.assert(
      fc.property(fc.array(write, { maxLength: 8 }), write, (writes, read) => {
        const stored = createMemoryStore().stableMemory('x');
        stored.grow(2);
        stored.write(0, new Uint8Array(2 * wasmPage).fill(9));
        const stable = new QueryStable(stored);
        expect(stable.grow(1)).toBe(2);
        const reference = new Uint8Array(3 * wasmPage).fill(9, 0, 2 * wasmPage);
        for (const { offset, bytes } of writes) {
          stable.write(offset, bytes);
          reference.set(bytes, offset);
        }
        const target = new Uint8Array(read.bytes.length);
        stable.read(read.offset, target);
        expect(target).toEqual(reference.slice(read.offset, read.offset + target.length));
        const whole = new Uint8Array(2 * wasmPage);
        stored.read(0, whole);
        expect(whole.every((byte) => byte === 9)).toBe(true);
        expect(stored.pages()).toBe(2);
        stable.rollback();
        expect([stable.pages(), stable.dirtyPages()]).toEqual([2, 0]);
      }),
      { numRuns: 50 },
    );
  });
});

describe("a canister's record", () => {
  const record = {
    ...newRecord([Principal.anonymous()], 2n ** 100n),
    moduleHash: new Uint8Array(32).fill(1),
    certifiedData: Uint8Array.of(1, 2),
    version: 7n,
    globalTimer: 1_700_000_000_000_000_000n,
  };
  const charged = { ...record, reservedCycles: 2n ** 65n, chargedAt: 1_700_000_000_000_000_001n };

  it('is the same after encoding and decoding', () => {
    expect(decodeRecord(encodeRecord(charged))).toEqual(charged);
    const everything = newRecord([Principal.anonymous()], 1n, {
      computeAllocation: 3n,
      memoryAllocation: 2n ** 40n,
      freezingThreshold: 2n ** 64n - 1n,
      reservedCyclesLimit: 2n ** 128n - 1n,
      minimumIncomingCallCycles: 2n ** 127n,
      wasmMemoryLimit: 2n ** 48n,
      wasmMemoryThreshold: 5n,
      logMemoryLimit: 8_192n,
      logVisibility: 'public',
      snapshotVisibility: { viewers: [Principal.anonymous()] },
      statusVisibility: { viewers: [] },
      environmentVariables: new Map([
        ['A', 'ä'],
        ['b', ''],
      ]),
    });
    expect(decodeRecord(encodeRecord(everything))).toEqual(everything);
    const empty = newRecord([], 0n);
    expect(decodeRecord(encodeRecord(empty))).toEqual(empty);
  });

  it('has the expected bytes', () => {
    const golden = [
      '02aa666379636c6573781f31323637363530363030323238323239343031343936373033323035',
      '333736667374617475736772756e6e696e676776657273696f6e076873657474696e677358498d',
      '81410400001a00278d006d3530303030303030303030303061301ac0000000001910006b636f6e',
      '74726f6c6c6572736b636f6e74726f6c6c6572736b636f6e74726f6c6c65727380696368617267',
      '656441741b17979cfe362a00016a6d6f64756c6548617368582001010101010101010101010101',
      '010101010101010101010101010101010101016b676c6f62616c54696d65721b17979cfe362a00',
      '006d636572746966696564446174614201026d6c6f774d656d6f7279486f6f6b6d6e6f74207361',
      '746973666965646e72657365727665644379636c65737433363839333438383134373431393130',
      '33323332',
    ].join('');
    expect(Buffer.from(encodeRecord(charged)).toString('hex')).toBe(golden);
  });

  it('of the former version, with three settings, is readable', () => {
    const former = [
      '01a9666379636c6573781f3132363736353036303032323832323934303134393637303332303533',
      '3736667374617475736772756e6e696e676776657273696f6e076a6d6f64756c6548617368582001',
      '010101010101010101010101010101010101010101010101010101010101016b636f6e74726f6c6c',
      '6572738141046b676c6f62616c54696d65721b17979cfe362a00006d636572746966696564446174',
      '614201026f7761736d4d656d6f72794c696d69741ac000000071667265657a696e67546872657368',
      '6f6c641a00278d00',
    ].join('');
    expect(decodeRecord(new Uint8Array(Buffer.from(former, 'hex')))).toEqual(record);
  });

  it('of a later version is refused', () => {
    expect(() => decodeRecord(Uint8Array.of(3, 0xa0))).toThrow('its version 3 is not known');
  });
});
