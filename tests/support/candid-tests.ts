// Reads Candid's own tests, test/*.test.did of github.com/dfinity/candid: their types and asserted
// inputs. The format is that of test/README.md there. Textual inputs are not parsed: as the README
// advises, a comparison with one is read as the assertion that the binary input can be decoded.

import { IDL } from '@dfinity/candid';

export interface CandidTest {
  readonly description: string;
  readonly types: readonly IDL.Type[];
  readonly input: Uint8Array;
  /** Another binary input, which has the same values, or others. */
  readonly other: { readonly input: Uint8Array; readonly isEqual: boolean } | undefined;
  readonly isAccepted: boolean;
}

const token =
  /\s+|\/\/[^\n]*|\/\*.*?\*\/|("(?:[^"\\]|\\.)*"|!:|==|!=|->|[A-Za-z_]\w*|\d+|[(){};:,=])/sy;

function tokensOf(source: string): string[] {
  const found: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < source.length) {
    const start = token.lastIndex;
    const match = token.exec(source);
    if (match === null) throw new Error(`Cannot read "${source.slice(start, start + 40)}"`);
    if (match[1] !== undefined) found.push(match[1]);
  }
  return found;
}

const primitives: Readonly<Record<string, IDL.Type>> = {
  ...{ null: IDL.Null, bool: IDL.Bool, nat: IDL.Nat, int: IDL.Int, text: IDL.Text },
  ...{ nat8: IDL.Nat8, nat16: IDL.Nat16, nat32: IDL.Nat32, nat64: IDL.Nat64 },
  ...{ int8: IDL.Int8, int16: IDL.Int16, int32: IDL.Int32, int64: IDL.Int64 },
  ...{ float32: IDL.Float32, float64: IDL.Float64, principal: IDL.Principal },
  ...{ reserved: IDL.Reserved, empty: IDL.Empty, blob: IDL.Vec(IDL.Nat8) },
};

/** Returns the bytes of a text: `\ab` is a byte, other characters are UTF-8. */
function bytesOf(literal: string): Uint8Array {
  const pieces = literal.slice(1, -1).match(/\\[0-9a-fA-F]{2}|\\.|[^\\]+/gs) ?? [];
  const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
  return new Uint8Array(
    Buffer.concat(
      pieces.map((piece) => {
        if (/^\\[0-9a-fA-F]{2}$/.test(piece)) return Buffer.from(piece.slice(1), 'hex');
        const text = piece.startsWith('\\') ? (escapes[piece[1] ?? ''] ?? piece.slice(1)) : piece;
        return Buffer.from(text);
      }),
    ),
  );
}

class TestParser {
  readonly #tokens: readonly string[];
  readonly #definitions = new Map<string, IDL.RecClass>();
  #at = 0;

  constructor(source: string) {
    this.#tokens = tokensOf(source);
  }

  tests(): CandidTest[] {
    const found: CandidTest[] = [];
    while (this.#at < this.#tokens.length) {
      if (this.#take('type')) this.#define();
      else found.push(...this.#assertion());
      this.#take(';');
    }
    return found;
  }

  #take(word: string): boolean {
    if (this.#tokens[this.#at] !== word) return false;
    this.#at += 1;
    return true;
  }

  #next(): string {
    const word = this.#tokens[this.#at++];
    if (word === undefined) throw new Error('The file ends early');
    return word;
  }

  #expect(word: string): void {
    const found = this.#next();
    if (found !== word) throw new Error(`Expected ${word}, found ${found}`);
  }

  #defined(name: string): IDL.RecClass {
    const known = this.#definitions.get(name) ?? IDL.Rec();
    this.#definitions.set(name, known);
    return known;
  }

  #define(): void {
    const name = this.#next();
    this.#expect('=');
    this.#defined(name).fill(this.#type() as IDL.ConstructType);
  }

  /** A test without a binary input is left out. */
  #assertion(): CandidTest[] {
    this.#expect('assert');
    const first = this.#input();
    const relation = this.#next();
    const isComparison = relation === '==' || relation === '!=';
    const second = isComparison ? this.#input() : undefined;
    if (isComparison) this.#expect(':');
    const types = this.#list();
    const next = this.#tokens[this.#at] ?? '';
    const description = next.startsWith('"') ? this.#next().slice(1, -1) : '';
    const [input, compared] = [first, second].filter((bytes) => bytes !== undefined);
    if (input === undefined) return [];
    const other = compared && { input: compared, isEqual: relation === '==' };
    return [{ description, types, input, other, isAccepted: relation !== '!:' }];
  }

  #input(): Uint8Array | undefined {
    if (this.#take('blob')) return bytesOf(this.#next());
    this.#next();
    return undefined;
  }

  #list(): IDL.Type[] {
    this.#expect('(');
    const types: IDL.Type[] = [];
    while (!this.#take(')')) {
      // The name of a function's argument says nothing.
      if (this.#tokens[this.#at + 1] === ':') this.#at += 2;
      types.push(this.#type());
      this.#take(',');
    }
    return types;
  }

  #type(): IDL.Type {
    const word = this.#next();
    if (word === 'opt') return IDL.Opt(this.#type());
    if (word === 'vec') return IDL.Vec(this.#type());
    if (word === 'record') return IDL.Record(this.#fields(true));
    if (word === 'variant') return IDL.Variant(this.#fields(false));
    if (word === 'func') return this.#func();
    if (word === 'service') return this.#service();
    return primitives[word] ?? this.#defined(word);
  }

  /** Fields without a name are numbered in a record, and have the type null in a variant. */
  #fields(isRecord: boolean): Record<string, IDL.Type> {
    const fields: Record<string, IDL.Type> = {};
    let number = 0;
    this.#expect('{');
    while (!this.#take('}')) {
      const isNamed = this.#tokens[this.#at + 1] === ':';
      if (isNamed || !isRecord) {
        const word = this.#next();
        const name = word.startsWith('"') ? Buffer.from(bytesOf(word)).toString() : word;
        const key = /^\d+$/.test(name) ? `_${name}_` : name;
        fields[key] = this.#take(':') ? this.#type() : IDL.Null;
        if (/^\d+$/.test(name)) number = Number(name) + 1;
      } else fields[`_${number++}_`] = this.#type();
      this.#take(';');
    }
    return fields;
  }

  #func(): IDL.FuncClass {
    const argumentTypes = this.#list();
    this.#expect('->');
    const resultTypes = this.#list();
    const annotations: string[] = [];
    while (['query', 'oneway', 'composite_query'].includes(this.#tokens[this.#at] ?? '')) {
      annotations.push(this.#next());
    }
    return IDL.Func(
      argumentTypes as Parameters<typeof IDL.Func>[0],
      resultTypes as Parameters<typeof IDL.Func>[1],
      annotations,
    );
  }

  #service(): IDL.ServiceClass {
    const methods: Record<string, IDL.FuncClass> = {};
    this.#expect('{');
    while (!this.#take('}')) {
      const name = this.#next().replaceAll('"', '');
      this.#expect(':');
      methods[name] = this.#func();
      this.#take(';');
    }
    return IDL.Service(methods);
  }
}

export function readCandidTests(source: string): CandidTest[] {
  return new TestParser(source).tests();
}
