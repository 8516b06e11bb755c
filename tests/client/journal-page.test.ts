// Pages of the journal in replies of a canister, against what the library's types encode.

import { IDL } from '@icp-sdk/core/candid';
import { Principal } from '@icp-sdk/core/principal';
import { describe, expect, test } from 'vitest';
import { methodTypes } from '../../packages/client/src/actor/candid-interface.ts';
import { pageIn } from '../../packages/client/src/actor/journal-page.ts';
import { ResultJournalPage } from '../../src/actor/candid/journal.ts';
import { headOfOk } from '../../src/actor/candid/result.ts';

const { result } = methodTypes('readJournal');
const caller = Principal.fromUint8Array(Uint8Array.of(1, 2, 3));
const salts = { detailsSalt: new Uint8Array(16).fill(7), subjectSalt: [], subjectHash: [] };
const subjectSalt = [new Uint8Array(16).fill(8)];
const at = 1_790_000_000_123_000_000n;
const time = new Date(1_790_000_000_123).toISOString();
const digest = 'ab'.repeat(32);

const entries = [
  {
    ...{ seq: 7n, at, kind: 'file.moved', by: { principal: caller }, subject: 'new\0old' },
    ...{ version: [300n], digest: [digest], proof: { ...salts, subjectSalt } },
  },
  {
    ...{ seq: 1_000_000n, at, kind: 'key.created', by: { apiKey: 'k1' }, subject: 'k2' },
    ...{ version: [], digest: [], proof: { ...salts, subjectSalt } },
  },
  {
    ...{ seq: 1_000_001n, at, kind: 'link.removed', by: { canister: null }, subject: '' },
    ...{ version: [], digest: [], proof: { ...salts, subjectHash: [new Uint8Array(32)] } },
  },
];
const page = { keptDays: 90n, hasMore: true, last: 1_000_002n, entries };
const plain = [
  {
    ...{ seq: 7, at: time, kind: 'file.moved', subject: 'new\0old', path: 'new', version: 300 },
    ...{ by: { kind: 'principal', id: caller.toText() }, formerPath: 'old', digest },
    proof: {
      details: `63010203${'ac02'}${digest}`,
      ...{ detailsSalt: '07'.repeat(16), subjectSalt: '08'.repeat(16) },
    },
  },
  {
    ...{ seq: 1_000_000, at: time, kind: 'key.created', subject: 'k2', keyId: 'k2' },
    by: { kind: 'apiKey', id: 'k1' },
    proof: {
      ...{ details: '826b3100', detailsSalt: '07'.repeat(16), subjectSalt: '08'.repeat(16) },
    },
  },
  {
    ...{ seq: 1_000_001, at: time, kind: 'link.removed', subject: '', isRedacted: true },
    by: { kind: 'canister' },
    proof: {
      ...{ details: '0000', detailsSalt: '07'.repeat(16), subjectHash: '00'.repeat(32) },
    },
  },
];

describe('pageIn()', () => {
  test('returns the entries of a reply', () => {
    const reply = IDL.encode([result], [{ ok: page }]);
    const ok = { entries: plain, last: 1_000_002, hasMore: true, keptDays: 90 };
    expect(pageIn(reply)).toEqual({ ok });
  });

  test('reads a reply that describes its values by other types', () => {
    const types = (result as IDL.VariantClass)._fields.map(([name, type]) => [name, type]);
    const other = IDL.Variant({ ...Object.fromEntries(types), later: IDL.Nat });
    const reply = IDL.encode([other], [{ ok: page }]);
    expect(pageIn(reply)).toMatchObject({ ok: { entries: plain } });
  });

  test('returns a refusal', () => {
    expect(pageIn(IDL.encode([result], [{ err: 'AccessDenied: no' }]))).toEqual({
      err: 'AccessDenied: no',
    });
  });

  test('refuses an id of an author that is too long for the details', () => {
    const by = { apiKey: 'k'.repeat(32) };
    const reply = IDL.encode([result], [{ ok: { ...page, entries: [{ ...entries[1], by }] } }]);
    expect(() => pageIn(reply)).toThrow('32 bytes; it has at most 31');
  });

  test('refuses a reply that is cut off anywhere', () => {
    const reply = IDL.encode([result], [{ ok: page }]);
    const empty = IDL.encode([result], [{ ok: { ...page, entries: [] } }]);
    for (let end = empty.length; end < reply.length; end++) {
      expect(() => pageIn(reply.slice(0, end))).toThrow('is cut off');
    }
  });

  test('needs no conversion of the types that the canister sends', () => {
    const empty = IDL.encode([result], [{ ok: { ...page, entries: [] } }]);
    const head = headOfOk(ResultJournalPage);
    expect(Buffer.from(empty.subarray(0, head.length))).toEqual(Buffer.from(head));
  });
});
