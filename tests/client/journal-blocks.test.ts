// Blocks of the journal in replies of a canister, against the library's decoder and hash.

import { hashOfMap } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { describe, expect, test } from 'vitest';
import { blocksIn } from '../../packages/client/src/actor/journal-blocks.ts';

const Value = IDL.Variant({ Text: IDL.Text, Nat: IDL.Nat, Blob: IDL.Vec(IDL.Nat8) });
const Block = IDL.Record({
  id: IDL.Nat,
  block: IDL.Variant({ Map: IDL.Vec(IDL.Tuple(IDL.Text, Value)) }),
});
const Blocks = IDL.Record({
  log_length: IDL.Nat,
  blocks: IDL.Vec(Block),
  archived_blocks: IDL.Vec(IDL.Empty),
});

type Fields = [string, object][];

/** Returns the fields of a block of a chain, as a service encodes them. */
function fieldsOf(index: number): Fields {
  const fields: Fields = [
    ['btype', { Text: index % 2 === 0 ? 'efs.file.stored' : 'efs.key.created' }],
    ['entry', { Blob: new Uint8Array(32).fill(index) }],
    ['ts', { Nat: 1_790_000_000_123_000_000n + BigInt(index) * 1_000_000n }],
  ];
  if (index > 0) fields.push(['phash', { Blob: new Uint8Array(32).fill(200 + index) }]);
  return fields;
}

function reply(blocks: readonly { id: bigint; block: { Map: Fields } }[], type = Blocks) {
  return IDL.encode([type], [{ log_length: 1_000_000n, blocks, archived_blocks: [] }]);
}

const blocks = Array.from({ length: 20 }, (_, index) => ({
  id: BigInt(index),
  block: { Map: fieldsOf(index) },
}));

function expected(index: number) {
  const values = fieldsOf(index).map(([name, value]) => [name, Object.values(value)[0]]);
  const { btype, entry, ts, phash } = Object.fromEntries(values);
  const hash = new Uint8Array(hashOfMap(Object.fromEntries(values)));
  const kind = btype.slice('efs.'.length);
  return { index, kind, atNs: ts, commitment: entry, parentHash: phash, hash };
}

const plain = (found: object) =>
  Object.fromEntries(
    Object.entries(found).map(([name, value]) => [
      name,
      value instanceof Uint8Array ? [...value] : value,
    ]),
  );

describe('blocksIn()', () => {
  test('returns the blocks of a reply with the hashes that the library computes', () => {
    const found = blocksIn(reply(blocks)).map(plain);
    expect(found).toEqual(blocks.map((_, index) => plain(expected(index))));
    expect(blocksIn(reply([]))).toEqual([]);
  });

  test('reads a reply whose types are described otherwise', () => {
    const Longer = IDL.Record({ ...fieldTypesOf(Blocks), extra: IDL.Opt(IDL.Text) });
    const values = { log_length: 20n, blocks, archived_blocks: [], extra: ['more'] };
    const found = blocksIn(IDL.encode([Longer], [values])).map(plain);
    expect(found).toEqual(blocks.map((_, index) => plain(expected(index))));
  });

  test.each<[string, Fields]>([
    ['no kind', fieldsOf(1).slice(1)],
    ['no hash of the block before', fieldsOf(0)],
    ['a short hash', [...fieldsOf(1).slice(0, 3), ['phash', { Blob: new Uint8Array(31) }]]],
    ['a field too many', [...fieldsOf(1), ['more', { Blob: new Uint8Array(32) }]]],
    ['a field twice', [...fieldsOf(1).slice(0, 3), fieldsOf(1)[0] as Fields[0]]],
    ['a kind of another type', [['btype', { Nat: 1n }], ...fieldsOf(1).slice(1)]],
    ['a kind of another service', [['btype', { Text: '1mint' }], ...fieldsOf(1).slice(1)]],
  ])('refuses a block with %s', (_, fields) => {
    expect(() => blocksIn(reply([{ id: 1n, block: { Map: fields } }]))).toThrow(
      'Block 1 of the journal is altered',
    );
  });

  test('refuses a reply that is cut off anywhere', () => {
    const whole = reply(blocks.slice(0, 2));
    // The last byte is the empty list of archives
    for (let length = whole.length - 2; length >= 0; length--) {
      expect(() => blocksIn(whole.slice(0, length)), `${length} of ${whole.length}`).toThrow();
    }
  });
});

function fieldTypesOf(record: IDL.RecordClass): Record<string, IDL.Type> {
  return Object.fromEntries((record as unknown as { _fields: [string, IDL.Type][] })._fields);
}
