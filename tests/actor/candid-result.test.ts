// The hand-written beginnings of results: the Candid library must be able to decode them.

import { IDL } from '@dfinity/candid';
import { describe, expect, it } from 'vitest';
import { HttpResponse, StreamingResponse } from '../../src/actor/candid/http.ts';
import { encodeResult, messageHead } from '../../src/actor/candid/result.ts';
import * as types from '../../src/actor/candid/types.ts';
import { concatBytes } from '../../src/lib/bytes.ts';
import { sampleOf } from '../support/candid-values.ts';

const results = Object.entries(types).filter(([name]) => name.startsWith('Result'));

describe('messageHead(): the beginning of a message', () => {
  it.each(results)('%s: an error and a value can be decoded', (_, type) => {
    const variant = type as IDL.VariantClass;
    const values = [{ err: 'NoSuchFile: é' }, { ok: sampleOf(okOf(variant)) }];
    for (const value of values) {
      expect(IDL.decode([variant], encodeResult(variant, value))).toEqual([value]);
    }
  });

  it.each([
    ['HttpResponse', HttpResponse],
    ['StreamingResponse', StreamingResponse],
  ])('%s: a value with a function can be decoded', (_, type) => {
    const value = sampleOf(type);
    const message = concatBytes(messageHead(type), type.encodeValue(value as never));
    expect(IDL.decode([type], message)).toEqual([value]);
  });

  it('refuses unknown types by name', () => {
    expect(() => messageHead(IDL.Float64)).toThrow('No result has float64');
  });
});

function okOf(type: IDL.VariantClass): IDL.Type {
  const field = type._fields.find(([name]) => name === 'ok');
  if (field === undefined) throw new Error('A result type must have the field ok');
  return field[1];
}
