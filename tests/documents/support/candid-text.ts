// Candid values in the notation of icp and dfx: `(record { name = "a"; buckets = vec { "b" } })`.

import { IDL as candid, type IDL } from '@icp-sdk/core/candid';
import { Principal } from '@icp-sdk/core/principal';

const tokenPattern = /\s*(?:"((?:[^"\\]|\\.)*)"|([A-Za-z_]\w*)|(-?[\d_]+)|([(){};,=]))/y;

type Token = { readonly kind: 'text' | 'word' | 'number' | 'mark'; readonly text: string };

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < text.trimEnd().length) {
    const at = tokenPattern.lastIndex;
    const [, quoted, word, digits, mark] = tokenPattern.exec(text) ?? [];
    if (quoted !== undefined) tokens.push({ kind: 'text', text: JSON.parse(`"${quoted}"`) });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (digits !== undefined)
      tokens.push({ kind: 'number', text: digits.replaceAll('_', '') });
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
    else throw new Error(`This text is not valid Candid: ${text.slice(at)}`);
  }
  return tokens;
}

class Reader {
  private readonly tokens: Token[];

  constructor(text: string) {
    this.tokens = tokensOf(text);
  }

  isNext(text: string): boolean {
    return this.tokens[0]?.text === text && this.tokens[0].kind !== 'text';
  }

  next(kind: Token['kind']): string {
    const token = this.tokens.shift();
    if (token?.kind !== kind) throw new Error(`Expected a ${kind}, got ${token?.text}`);
    return token.text;
  }

  expect(text: string): void {
    const token = this.tokens.shift();
    if (token?.text !== text) throw new Error(`Expected ${text}, got ${token?.text}`);
  }

  /**
   * Reads a list between an opening and a closing mark; a separator may also follow the last item.
   */
  list<T>(marks: string, read: () => T): T[] {
    const [open = '', close = '', between = ''] = marks;
    const items: T[] = [];
    this.expect(open);
    while (!this.isNext(close)) {
      items.push(read());
      if (!this.isNext(close)) this.expect(between);
    }
    this.expect(close);
    return items;
  }
}

/**
 * Parses the arguments of a method into the JavaScript values that agents encode; `opt` arguments
 * at the end and `opt` fields of records may be omitted.
 */
export function readArguments(text: string, types: readonly IDL.Type[]): unknown[] {
  const reader = new Reader(text);
  let index = 0;
  const values = reader.list('(),', () => {
    const type = types[index];
    index += 1;
    if (type === undefined) throw new Error(`The method takes ${types.length} arguments`);
    return readValue(reader, type);
  });
  return types.map((type, place) => {
    if (place < values.length) return values[place];
    if (type instanceof candid.OptClass) return [];
    throw new Error(`Argument ${place + 1} is missing`);
  });
}

function readValue(reader: Reader, type: IDL.Type): unknown {
  if (type instanceof candid.RecClass) return readValue(reader, type.getType() as IDL.Type);
  if (type instanceof candid.OptClass) return readOption(reader, type);
  if (type instanceof candid.TextClass) return reader.next('text');
  if (type instanceof candid.BoolClass) return reader.next('word') === 'true';
  if (type instanceof candid.NatClass || type instanceof candid.IntClass) {
    return BigInt(reader.next('number'));
  }
  if (type instanceof candid.PrincipalClass) {
    reader.expect('principal');
    return Principal.fromText(reader.next('text'));
  }
  if (type instanceof candid.VecClass) {
    reader.expect('vec');
    return reader.list('{};', () =>
      readValue(reader, (type as unknown as { _type: IDL.Type })._type),
    );
  }
  if (type instanceof candid.VariantClass) return readVariant(reader, fieldsOf(type));
  if (type instanceof candid.RecordClass) return readRecord(reader, fieldsOf(type));
  throw new Error(`Values of type ${type.display()} are not supported`);
}

function fieldsOf(type: IDL.Type): ReadonlyMap<string, IDL.Type> {
  return new Map((type as unknown as { _fields: [string, IDL.Type][] })._fields);
}

function readOption(reader: Reader, type: IDL.Type): unknown {
  if (reader.isNext('null')) {
    reader.expect('null');
    return [];
  }
  reader.expect('opt');
  return [readValue(reader, (type as unknown as { _type: IDL.Type })._type)];
}

function readVariant(reader: Reader, fields: ReadonlyMap<string, IDL.Type>): unknown {
  reader.expect('variant');
  reader.expect('{');
  const name = reader.next('word');
  const type = fields.get(name);
  if (type === undefined) throw new Error(`The variant has no alternative ${name}`);
  let value: unknown = null;
  if (reader.isNext('=')) {
    reader.expect('=');
    value = readValue(reader, type);
  }
  reader.expect('}');
  return { [name]: value };
}

function readRecord(reader: Reader, fields: ReadonlyMap<string, IDL.Type>): unknown {
  reader.expect('record');
  const given = reader.list('{};', () => {
    const name = reader.next('word');
    const type = fields.get(name);
    if (type === undefined) throw new Error(`The record has no field ${name}`);
    reader.expect('=');
    return [name, readValue(reader, type)] as const;
  });
  const record = new Map<string, unknown>(given);
  for (const [name, type] of fields) {
    if (record.has(name)) continue;
    if (!(type instanceof candid.OptClass)) throw new Error(`The field ${name} is missing`);
    record.set(name, []);
  }
  return Object.fromEntries(record);
}
