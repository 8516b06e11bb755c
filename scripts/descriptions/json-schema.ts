// JSON Schemas of Candid types, as DFINITY's ic-webmcp-codegen maps them: numbers that JSON cannot
// hold are strings, blobs are base64, and an alternative without a value is its name.

import { type CandidField, type CandidInterface, fieldOf, partsOf } from './candid-text.ts';

export type Schema = Readonly<Record<string, unknown>>;

const digits = { type: 'string', pattern: '^[0-9]+$' };
const signedDigits = { type: 'string', pattern: '^-?[0-9]+$' };
const primitives: Readonly<Record<string, Schema>> = {
  nat: digits,
  nat64: digits,
  int: signedDigits,
  int64: signedDigits,
  nat8: { type: 'integer', minimum: 0, maximum: 255 },
  nat16: { type: 'integer', minimum: 0, maximum: 65_535 },
  nat32: { type: 'integer', minimum: 0, maximum: 4_294_967_295 },
  text: { type: 'string' },
  bool: { type: 'boolean' },
  principal: { type: 'string' },
};

/** `type`: in Candid's notation. `within`: the names of the types around it. */
export function schemaOf(
  type: string,
  { types }: Pick<CandidInterface, 'types'>,
  within: readonly string[] = [],
): Schema {
  const inner = (notation: string) => schemaOf(notation, { types }, within);
  const [, opt] = /^opt (.*)$/s.exec(type) ?? [];
  if (opt !== undefined) return { oneOf: [inner(opt), { type: 'null' }] };
  if (type === 'vec nat8') return { type: 'string', contentEncoding: 'base64' };
  const [, vec] = /^vec (.*)$/s.exec(type) ?? [];
  if (vec !== undefined) return { type: 'array', items: inner(vec) };
  const [, kind, listed] = /^(record|variant) \{(.*)\}$/s.exec(type) ?? [];
  if (listed !== undefined) {
    const parts = partsOf(listed, ';');
    if (kind === 'record') return pairSchema(parts.map(inner));
    return variantSchema(
      parts.map((part) => ({ ...fieldOf(part), comment: '' })),
      inner,
    );
  }
  const named = types.get(type);
  if (named === undefined) return primitives[type] ?? fail(`no JSON Schema of ${type}`);
  if (within.includes(type)) return { description: `Recursive type: ${type}` };
  const inside = (notation: string) => schemaOf(notation, { types }, [...within, type]);
  if (named.type !== undefined) return inside(named.type);
  const { kind: namedKind, fields } = named;
  return namedKind === 'record' ? recordSchema(fields, inside) : variantSchema(fields, inside);
}

function recordSchema(fields: readonly CandidField[], inner: (type: string) => Schema): Schema {
  const properties = fields.map(({ name, type, comment }) => {
    return [name, { ...inner(type), ...(comment !== '' && { description: comment }) }];
  });
  const required = fields.filter(({ type }) => !type.startsWith('opt ')).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}

function variantSchema(fields: readonly CandidField[], inner: (type: string) => Schema): Schema {
  const alternatives = fields.map(({ name, type }) => {
    if (type === '') return { const: name };
    return { type: 'object', properties: { [name]: inner(type) }, required: [name] };
  });
  return { oneOf: alternatives };
}

/** A record without names is an array for the agents of JavaScript, here of equal types. */
function pairSchema(parts: readonly Schema[]): Schema {
  const [items] = parts;
  const same = JSON.stringify(items);
  if (parts.some((part) => JSON.stringify(part) !== same)) fail('a tuple has different types');
  return { type: 'array', items, minItems: parts.length, maxItems: parts.length };
}

function fail(reason: string): never {
  throw new Error(`scripts/descriptions/json-schema.ts: ${reason}`);
}
