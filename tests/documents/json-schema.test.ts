// The JSON Schemas of Candid types in webmcp.json, and the reader of the .did file behind them.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { describe, expect, test } from 'vitest';
import { idlFactory } from '../../packages/client/src/candid/file_storage.did.ts';
import { readInterface } from '../../scripts/descriptions/candid-text.ts';
import { schemaOf } from '../../scripts/descriptions/json-schema.ts';
import { projectDir } from '../tidy/source-tree.ts';

const candid = readInterface(readFileSync(join(projectDir, 'candid/file_storage.did'), 'utf8'));
const parsed = (idlFactory as unknown as (kit: object) => IDL.ServiceClass)({ IDL });

const sample = readInterface(`
// A tree.
type Tree = record {
  // Its name.
  label: text;
  "type": opt nat;
  branches: vec Tree;
};
type Pair = record {text; text};
type Kind = variant {
  small;
  large: nat8;
};
`);
const text = { type: 'string' };
const nat = { type: 'string', pattern: '^[0-9]+$' };

describe('schemaOf()', () => {
  test.each([
    ['nat', nat],
    ['nat64', nat],
    ['int', { type: 'string', pattern: '^-?[0-9]+$' }],
    ['nat16', { type: 'integer', minimum: 0, maximum: 65_535 }],
    ['bool', { type: 'boolean' }],
    ['principal', text],
    ['vec nat8', { type: 'string', contentEncoding: 'base64' }],
    ['vec text', { type: 'array', items: text }],
    ['opt vec nat', { oneOf: [{ type: 'array', items: nat }, { type: 'null' }] }],
    ['Pair', { type: 'array', items: text, minItems: 2, maxItems: 2 }],
    [
      'variant {ok; err:text}',
      {
        oneOf: [{ const: 'ok' }, { type: 'object', properties: { err: text }, required: ['err'] }],
      },
    ],
  ])('maps %s', (type, schema) => {
    expect(schemaOf(type, sample)).toEqual(schema);
  });

  test('maps a recursive record with its comments, and options as not required', () => {
    expect(schemaOf('Tree', sample)).toEqual({
      type: 'object',
      properties: {
        label: { ...text, description: 'Its name.' },
        type: { oneOf: [nat, { type: 'null' }] },
        branches: { type: 'array', items: { description: 'Recursive type: Tree' } },
      },
      required: ['label', 'branches'],
    });
  });

  test('refuses a type that it does not know', () => {
    expect(() => schemaOf('float64', sample)).toThrow('no JSON Schema of float64');
  });
});

describe('readInterface()', () => {
  test('reads each method with its arguments, as the official parser does', () => {
    const methods = parsed._fields.map(([name, { argTypes, annotations }]) => {
      return [name, argTypes.length, annotations.includes('query')];
    });
    const read = [...candid.methods.values()].map((method) => {
      return [method.name, method.arguments.length, method.isQuery];
    });
    expect(read.sort()).toEqual(methods.sort());
  });

  test('reads each field of the types', () => {
    const methods = new Map<string, IDL.FuncClass>(parsed._fields);
    const records = [...candid.methods.values()].flatMap(({ name, arguments: [first = ''] }) => {
      const [type] = methods.get(name)?.argTypes ?? [];
      return type !== undefined && type instanceof IDL.RecordClass ? [[first, type] as const] : [];
    });
    expect(records.length).toBeGreaterThan(20);
    for (const [name, { _fields }] of records) {
      const fields = candid.types.get(name)?.fields.map((field) => field.name);
      expect(fields?.sort(), name).toEqual(_fields.map(([field]) => field).sort());
    }
  });
});
