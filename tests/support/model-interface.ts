// Converts the committed .did file to types of the Candid library, with a parser for the subset of
// the language in such files, and generates values of those types for fast-check.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import fc from 'fast-check';
import { projectDir } from '../tidy/source-tree.ts';

export interface DidMethod {
  readonly name: string;
  readonly isQuery: boolean;
  readonly parameters: IDL.Type[];
  readonly results: IDL.Type[];
  readonly values: fc.Arbitrary<unknown[]>;
}

/** Values that a test wants among the generated ones. */
export interface Vocabulary {
  readonly texts: readonly string[];
  readonly principals: readonly Principal[];
}

/** A type and a generator of its values. */
interface Typed {
  readonly type: IDL.Type;
  readonly values: fc.Arbitrary<unknown>;
}

type Fields = (readonly [name: string, typed: Typed])[];

export function readInterface(vocabulary: Vocabulary): DidMethod[] {
  const text = readFileSync(join(projectDir, 'candid', 'file_storage.did'), 'utf8');
  const reader = new DidReader(text, vocabulary);
  return reader.service();
}

class DidReader {
  readonly #tokens: string[];
  readonly #known: Map<string, Typed>;
  #position = 0;

  constructor(text: string, vocabulary: Vocabulary) {
    const code = text.replaceAll(/\/\/.*$/gm, '');
    this.#tokens = code.match(/->|[\w]+|"\w+"|[(){}:;,=]/g) ?? [];
    this.#known = plainTypes(vocabulary);
  }

  service(): DidMethod[] {
    while (this.#skips('type')) this.#named();
    for (const token of ['service', ':']) this.#skip(token);
    // The argument of install.
    this.#list();
    for (const token of ['->', '{']) this.#skip(token);
    const methods: DidMethod[] = [];
    while (!this.#skips('}')) methods.push(this.#method());
    return methods;
  }

  /** Types precede the types that use them. */
  #named(): void {
    const name = this.#next();
    this.#skip('=');
    this.#known.set(name, this.#type());
    this.#skip(';');
  }

  #method(): DidMethod {
    const name = this.#next();
    this.#skip(':');
    const parameters = this.#list();
    this.#skip('->');
    const results = this.#list().map(({ type }) => type);
    const isQuery = this.#skips('query');
    this.#skip(';');
    const values = fc.tuple(...parameters.map((parameter) => parameter.values));
    return { name, isQuery, parameters: parameters.map(({ type }) => type), results, values };
  }

  #list(): Typed[] {
    this.#skip('(');
    const types: Typed[] = [];
    while (!this.#skips(')')) {
      types.push(this.#type());
      this.#skips(',');
    }
    return types;
  }

  #type(): Typed {
    const word = this.#next();
    if (word === '(') {
      const inner = this.#type();
      this.#skip(')');
      return inner;
    }
    if (word === 'opt') return optional(this.#type());
    if (word === 'vec') return vector(this.#type());
    if (word === 'record') return record(this.#fields());
    if (word === 'variant') return variant(this.#fields());
    if (word === 'func') return this.#function();
    return this.#known.get(word) ?? fail(`type ${word}`);
  }

  /** A function type occurs only in results: no method accepts one. */
  #function(): Typed {
    const parameters = this.#list().map(({ type }) => type) as [IDL.Type];
    this.#skip('->');
    const results = this.#list().map(({ type }) => type) as [IDL.Type];
    const annotations = this.#skips('query') ? ['query'] : [];
    const values = fc.constant([Principal.anonymous(), 'callback']);
    return { type: IDL.Func(parameters, results, annotations), values };
  }

  /** Fields without a name are numbered; fields without a type are null. */
  #fields(): Fields {
    this.#skip('{');
    const fields: [string, Typed][] = [];
    while (!this.#skips('}')) {
      const follower = this.#tokens[this.#position + 1] ?? '';
      if (follower === ':') {
        const name = this.#next().replaceAll('"', '');
        this.#skip(':');
        fields.push([name, this.#type()]);
      } else if (this.#known.has(this.#tokens[this.#position] ?? '')) {
        fields.push([`_${fields.length}_`, this.#type()]);
      } else {
        fields.push([this.#next(), { type: IDL.Null, values: fc.constant(null) }]);
      }
      this.#skips(';');
    }
    return fields;
  }

  #next(): string {
    return this.#tokens[this.#position++] ?? fail('end of the text');
  }

  #skip(token: string): void {
    if (!this.#skips(token)) fail(`${this.#tokens[this.#position]} in place of ${token}`);
  }

  #skips(token: string): boolean {
    const isThere = this.#tokens[this.#position] === token;
    if (isThere) this.#position += 1;
    return isThere;
  }
}

function fail(what: string): never {
  throw new Error(`Cannot read the interface: unexpected ${what}`);
}

function optional({ type, values }: Typed): Typed {
  const some = values.map((value) => [value]);
  return { type: IDL.Opt(type), values: fc.oneof(fc.constant([]), some) };
}

function vector({ type, values }: Typed): Typed {
  if (type === IDL.Nat8) {
    const long = fc.constantFrom(4_200, 70_000).map((length) => new Uint8Array(length).fill(65));
    const bytes = fc.oneof({ weight: 5, arbitrary: fc.uint8Array({ maxLength: 200 }) }, long);
    return { type: IDL.Vec(type), values: bytes };
  }
  // Long nested lists would exceed the size of a message.
  const length = type.display().includes('vec') ? 6 : 700;
  const many = values.map((value) => Array.from({ length }, () => value));
  const few = { weight: 8, arbitrary: fc.array(values, { maxLength: 4 }) };
  return { type: IDL.Vec(type), values: fc.oneof(few, many) };
}

function record(fields: Fields): Typed {
  const values = fc.tuple(...fields.map(([, typed]) => typed.values));
  if (fields.every(([name], index) => name === `_${index}_`)) {
    return { type: IDL.Tuple(...fields.map(([, { type }]) => type)), values };
  }
  const type = IDL.Record(Object.fromEntries(fields.map(([name, typed]) => [name, typed.type])));
  const named = values.map((parts) =>
    Object.fromEntries(fields.map(([name], index) => [name, parts[index]])),
  );
  return { type, values: named };
}

function variant(fields: Fields): Typed {
  const type = IDL.Variant(Object.fromEntries(fields.map(([name, typed]) => [name, typed.type])));
  const chosen = fields.map(([name, { values }]) => values.map((value) => ({ [name]: value })));
  return { type, values: fc.oneof(...chosen) };
}

function plainTypes({ texts, principals }: Vocabulary): Map<string, Typed> {
  const known = { weight: 6, arbitrary: fc.constantFrom(...texts) };
  const text = fc.oneof(
    known,
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
    fc.constantFrom('', ' ', '\0', '..', '/', '*', '"', 'efs_', 'a'.repeat(70), '\ud800'),
    fc.constantFrom('x'.repeat(3_000), 'ü/'.repeat(9_000), '\u{1F600}'.repeat(500)),
  );
  const edges = [7n, 31n, 32n, 53n, 63n, 64n, 128n, 1_024n, 20_000n].map((bits) => 2n ** bits);
  const nat = fc.oneof(
    fc.bigInt({ min: 0n, max: 300n }),
    fc.constantFrom(0n, 1n, 50n, 1_000_000n, ...edges, ...edges.map((edge) => edge - 1n)),
  );
  const int = fc.oneof(
    nat,
    nat.map((value) => -value),
  );
  return new Map<string, Typed>([
    ['text', { type: IDL.Text, values: text }],
    ['nat', { type: IDL.Nat, values: nat }],
    ['int', { type: IDL.Int, values: int }],
    ['nat8', { type: IDL.Nat8, values: fc.nat({ max: 255 }) }],
    ['nat16', { type: IDL.Nat16, values: fc.nat({ max: 65_535 }) }],
    ['bool', { type: IDL.Bool, values: fc.boolean() }],
    // Only results have it, in lists without elements
    ['empty', { type: IDL.Empty, values: fc.constant(undefined) }],
    ['principal', { type: IDL.Principal, values: fc.constantFrom(...principals) }],
  ]);
}
