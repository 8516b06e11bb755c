// Arguments that make the canister work without paying: bytes that declare more than they contain,
// and values of the right types that are too many, too long, or slow to parse. The bench and the
// tests send the same list to each method of the interface.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { hostileTexts } from './hostile-texts.ts';
import type { DidMethod } from './model-interface.ts';

export interface HostileArgument {
  readonly name: string;
  /** Encoded on demand, because most runs send only a part of them. */
  argument(): Uint8Array;
}

type Named = readonly [name: string, argument: Uint8Array | (() => Uint8Array)];

/** Texts of honest calls of the demo service. */
export interface HonestTexts {
  readonly apiKey: string;
  readonly uploadId: string;
}

const magic = Buffer.from('DIDL');
const megabytes = 1_900_000;

function bytes(...parts: (number | readonly number[] | Uint8Array)[]): Uint8Array {
  const pieces = parts.map((part) => (typeof part === 'number' ? [part] : part));
  return new Uint8Array(Buffer.concat([magic, ...pieces.map((piece) => Uint8Array.from(piece))]));
}

function leb(value: number): number[] {
  const digits: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) digits.push((rest & 0x7f) | 0x80);
  return [...digits, rest];
}

function repeat(count: number, ...values: number[]): Uint8Array {
  return new Uint8Array(count * values.length).map(
    (_, index) => values[index % values.length] ?? 0,
  );
}

const [nullType, nat, int, text, reserved, float64, principal] = [
  0x7f, 0x7d, 0x7c, 0x71, 0x70, 0x72, 0x68,
];
const [opt, vec, record, variant, func] = [0x6e, 0x6d, 0x6c, 0x6b, 0x6a];
const endless = [0xff, 0xff, 0xff, 0xff, 0x0f];

/** Returns the table and one argument, of the type of its entry 0. */
function typed(entries: number, table: readonly number[] | Uint8Array, value: Uint8Array) {
  return bytes(leb(entries), table, 1, 0, value);
}

const vectors: readonly Named[] = [
  ['2^32 nulls', bytes(1, vec, nullType, 1, 0, endless)],
  ['2^32 reserved', bytes(1, vec, reserved, 1, 0, endless)],
  ['2^32 empty records', bytes(2, vec, 1, record, 0, 1, 0, endless)],
  ['2^32 variants', bytes(2, vec, 1, variant, 1, 0, nullType, 1, 0, endless, repeat(9_000, 0))],
  ['2^32 floats', bytes(1, vec, float64, 1, 0, endless, repeat(9_000, 1))],
  ['4,000 nats', typed(1, [vec, nat], Buffer.concat([Buffer.from(leb(4_000)), repeat(4_000, 1)]))],
  [
    '1.9 M nats',
    typed(1, [vec, nat], Buffer.concat([Buffer.from(leb(megabytes)), repeat(megabytes, 1)])),
  ],
  [
    '4,000 texts',
    typed(1, [vec, text], Buffer.concat([Buffer.from(leb(4_000)), repeat(4_000, 0)])),
  ],
];

const nested: readonly Named[] = [
  ['options in options', typed(1, [opt, 0], repeat(9_000, 1))],
  ['2 MB of options in options', typed(1, [opt, 0], repeat(megabytes, 1))],
  ['lists in lists', typed(1, [vec, 0], repeat(9_000, 1))],
  ['a record of itself', typed(1, [record, 1, 0, 0], new Uint8Array(0))],
  ['a variant of itself', typed(1, [variant, 1, 0, 0], repeat(9_000, 0))],
  [
    'records that double 30 times',
    typed(
      31,
      [
        ...Array.from({ length: 30 }, (_, level) => [record, 2, 0, level + 1, 1, level + 1]).flat(),
        record,
        0,
      ],
      new Uint8Array(0),
    ),
  ],
];

const tables: readonly Named[] = [
  ['a type table of 2^32', bytes(endless)],
  ['10,000 types', bytes(leb(10_000), repeat(10_000, opt, text), 0)],
  ['32 types of 128 fields', bytes(32, ...Array.from({ length: 32 }, () => fieldsOf(128)), 0)],
  ['a record of 10,000 fields', typed(1, fieldsOf(10_000), new Uint8Array(0))],
  ['a record of 128 fields', typed(1, fieldsOf(128), new Uint8Array(0))],
  ['fields out of order', typed(1, [record, 2, 1, nullType, 0, nullType], new Uint8Array(0))],
  ['a function', bytes(1, func, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0x61)],
  ['a type beyond the table', bytes(0, 1, 0x3f)],
];

function fieldsOf(count: number): number[] {
  const fields = Array.from({ length: count }, (_, id) => [...leb(id), nullType]);
  return [record, ...leb(count), ...fields.flat()];
}

const plain: readonly Named[] = [
  ['a nat without an end', bytes(0, 1, nat, repeat(9_000, 0xff))],
  ['2 MB of a nat', bytes(0, 1, nat, repeat(megabytes, 0xff), 1)],
  ['an int without an end', bytes(0, 1, int, repeat(9_000, 0xff))],
  ['a text beyond the end', bytes(0, 1, text, repeat(7, 0xff), 1)],
  ['a text of 16 kB', bytes(0, 1, text, leb(16_000), repeat(16_000, 0x61))],
  ['a text of 4 kB, not ASCII', bytes(0, 1, text, leb(4_000), repeat(2_000, 0xc3, 0xbc))],
  ['a text of 1.9 MB', bytes(0, 1, text, leb(megabytes), repeat(megabytes, 0x61))],
  ['a text that is not UTF-8', bytes(0, 1, text, leb(4_000), repeat(4_000, 0xff))],
  ['a principal of 1,000 bytes', bytes(0, 1, principal, 1, leb(1_000), repeat(1_000, 7))],
  ['an opaque principal', bytes(0, 1, principal, 0)],
  ['9,000 arguments', bytes(0, leb(9_000), repeat(9_000, nullType))],
  ['2^32 arguments', bytes(0, endless)],
];

const noise: readonly Named[] = [
  ['nothing', new Uint8Array(0)],
  ['no magic', repeat(4_000, 0x61)],
  ['only the magic', bytes()],
  ['2 MB of zeros', new Uint8Array(megabytes)],
  ['2 MB after the magic', bytes(repeat(megabytes, 0))],
  ['2 MB after no arguments', bytes(0, 0, repeat(megabytes, 0))],
];

/** Returns arguments that the method's types allow: each field hostile in turn, and all at once. */
export function hostileArguments(method: DidMethod, honest: HonestTexts): HostileArgument[] {
  const bare = [...vectors, ...nested, ...tables, ...plain, ...noise];
  const isHttp = method.name.startsWith('http_');
  const values = isHttp ? [] : valuesOf(method, honest);
  return [...bare, ...values].map(([name, argument]) => ({
    name,
    argument: () => (typeof argument === 'function' ? argument() : argument),
  }));
}

interface Fill {
  readonly text: string;
  /** The index of the field with the hostile text; all fields if `undefined`. */
  readonly site: number | undefined;
  readonly count: number;
  readonly number: bigint;
}

/** Maximum items of a nested list: longer ones would exceed a message. */
const innerCountMax = 20;

class Filler extends IDL.Visitor<string, unknown> {
  sites = 0;
  #depth = 0;

  constructor(
    readonly fill: Fill,
    readonly honest: HonestTexts,
  ) {
    super();
  }

  override visitText(_: unknown, name: string): string {
    const site = this.sites++;
    if (this.fill.site === undefined || this.fill.site === site) return this.fill.text;
    if (name === 'apiKey') return this.honest.apiKey;
    return ['demo', '/a.txt', 'text/plain'][Number(name)] ?? honestField[name] ?? 'a';
  }

  override visitNumber(): bigint {
    return this.fill.number;
  }

  override visitBool(): boolean {
    return true;
  }

  override visitNull(): null {
    return null;
  }

  override visitPrincipal(): Principal {
    return Principal.fromUint8Array(repeat(29, 7));
  }

  override visitOpt(_: unknown, type: IDL.Type, name: string): unknown {
    // An optional text as a separate argument is an API key.
    return [type.accept(this, /^\d$/.test(name) ? 'apiKey' : name)];
  }

  override visitVec(_: unknown, type: IDL.Type, name: string): unknown {
    if (type === IDL.Nat8) return repeat(4, 65);
    this.#depth += 1;
    const first = type.accept(this, name);
    this.#depth -= 1;
    const length = Math.min(this.fill.count, this.#depth > 0 ? innerCountMax : this.fill.count);
    return Array.from({ length }, () => first);
  }

  override visitRecord(_: unknown, fields: [string, IDL.Type][]): unknown {
    return Object.fromEntries(fields.map(([name, type]) => [name, type.accept(this, name)]));
  }

  override visitTuple(_: unknown, types: IDL.Type[]): unknown[] {
    return types.map((type) => type.accept(this, 'cache-control'));
  }

  override visitVariant(_: unknown, fields: [string, IDL.Type][]): unknown {
    const [name, type] = fields.at(-1) ?? ['', IDL.Null];
    return { [name]: type.accept(this, name) };
  }
}

const honestField: Readonly<Record<string, string>> = {
  bucketId: 'demo',
  path: '/a.txt',
  contentType: 'text/plain',
  'cache-control': 'cache-control',
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
};

function valuesOf(method: DidMethod, honest: HonestTexts): Named[] {
  const make = (
    name: string,
    fill: Partial<Fill>,
    extra: readonly [IDL.Type, unknown][] = [],
  ): Named => {
    const whole: Fill = { text: 'a', site: undefined, count: 1, number: 5n, ...fill };
    const types = [...method.parameters, ...extra.map(([type]) => type)];
    const encode = () => {
      const filler = new Filler(whole, honest);
      const values = method.parameters.map((type, index) => type.accept(filler, String(index)));
      return new Uint8Array(IDL.encode(types, [...values, ...extra.map(([, value]) => value)]));
    };
    return [name, encode];
  };
  const counter = new Filler({ text: '', site: -1, count: 1, number: 1n }, honest);
  for (const type of method.parameters) type.accept(counter, '0');
  const sites = [undefined, ...Array.from({ length: counter.sites }, (_, site) => site)];
  const texts = [...hostileTexts, ['the id of a session', honest.uploadId] as const];
  const single = texts.flatMap(([name, text]) =>
    sites.map((site) => make(`${name} in text ${site ?? 'after text'}`, { text, site })),
  );
  const lists = [20, 60, 100, 480, 5_000].flatMap((count) => [
    make(`lists of ${count}`, { count, site: -1 }),
    make(`lists of ${count} with an argument of 15 kB`, { count, site: -1 }, [
      [IDL.Text, 'x'.repeat(15_000)],
    ]),
    make(`lists of ${count} texts of 60`, { count, text: 'ü'.repeat(30) }),
  ]);
  const numbers = [2n ** 64n, 2n ** 130n, 2n ** 4_000n].map((number) =>
    make(`numbers of ${number.toString(2).length} bits`, { number, site: -1 }),
  );
  return [
    ...single,
    ...lists,
    ...numbers,
    ...withUnknownFields(method, honest),
    ...fullBatches(method),
  ];
}

/** Returns the largest batch of files that one call can send, without an API key. */
function fullBatches({ name, parameters }: DidMethod): Named[] {
  if (name !== 'uploadFiles') return [];
  const long = 'x'.repeat(130);
  const file = {
    path: long,
    bytes: repeat(1, 1),
    contentType: [long],
    tags: [[]],
    headers: [[]],
    sha256: [long],
    ifMatch: [long],
    ifNoneMatch: [long],
    metadata: [Array(5).fill(['a', 'b'])],
  };
  const batch = { bucketId: 'demo', files: Array(200).fill(file), apiKey: [] };
  return [['200 files with every optional field', new Uint8Array(IDL.encode(parameters, [batch]))]];
}

/** Returns the method's record with long lists and an additional, unknown field. */
function withUnknownFields(method: DidMethod, honest: HonestTexts): Named[] {
  const [type] = method.parameters;
  if (type === undefined || !(type instanceof IDL.RecordClass)) return [];
  const unknown: Readonly<Record<string, readonly [IDL.Type, unknown]>> = {
    'a text of 15 kB': [IDL.Text, 'x'.repeat(15_000)],
    'a text of 2 kB': [IDL.Text, 'ü'.repeat(1_000)],
    '200 nats': [IDL.Vec(IDL.Nat), Array(200).fill(1n)],
    '15 kB of bytes': [IDL.Vec(IDL.Nat8), repeat(15_000, 1)],
  };
  return Object.entries(unknown).flatMap(([name, [extra, value]]) =>
    [1, 60, 480].map((count): Named => {
      const filler = new Filler({ text: 'a', site: -1, count, number: 5n }, honest);
      const known = type.accept(filler, '0') as object;
      const Wider = IDL.Record({ ...Object.fromEntries(type._fields), unknown: extra });
      const encode = () => new Uint8Array(IDL.encode([Wider], [{ ...known, unknown: value }]));
      return [`${name} in an unknown field, lists of ${count}`, encode];
    }),
  );
}
