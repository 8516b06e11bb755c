// Results of actor methods, `variant { ok : …; err : text }`. The Candid library builds and encodes
// the type table of each reply again, which takes 12 M instructions for a record of sixteen fields.
// Here it is built once, at install and upgrade, and a reply encodes only its value.

import { IDL, idlLabelToId } from '@dfinity/candid';
import { concatBytes } from '../../lib/bytes.ts';
import { leb128 } from '../../lib/leb128.ts';
import { candidTypes } from './reader.ts';

/** The bytes before the value of an encoded result, by type. */
const heads = new Map<IDL.Type, Uint8Array>();

const functionType = -22;
const annotationCodes: Readonly<Record<string, number>> = { query: 1 };
const magic = Uint8Array.of(0x44, 0x49, 0x44, 0x4c);

export function resultOf(ok: IDL.Type): IDL.VariantClass {
  const type = IDL.Variant({ ok, err: IDL.Text });
  heads.set(type, messageHead(type));
  return type;
}

/** One object for the type, so that messages of file records declare it once. */
export const optionalText = IDL.Opt(IDL.Text);

/** Returns the bytes before the value of a message with one value of that type. */
export function messageHead(type: IDL.Type): Uint8Array {
  const table = new TypeTable();
  const argument = type.accept(table, null);
  const entries = table.entries.map((entry) => Uint8Array.from(entry));
  return concatBytes(magic, leb128(entries.length), ...entries, Uint8Array.of(1, argument));
}

/** One byte is enough: type codes are above -25, and tables of results have fewer than 64 types. */
function sleb128(value: number): number {
  return value & 0x7f;
}

/**
 * Adds types to a table and returns their encoded references. It takes 0.3 M instructions; the
 * library's table takes 9 M per type, 128 M at install. It supports only the types that results
 * contain.
 */
class TypeTable extends IDL.Visitor<null, number> {
  readonly entries: number[][] = [];
  readonly #known = new Map<IDL.Type, number>();

  /** Adds an entry after the entries of its component types. */
  #add(type: IDL.Type, entry: () => number[]): number {
    const known = this.#known.get(type);
    if (known !== undefined) return known;
    const index = this.entries.push(entry()) - 1;
    this.#known.set(type, index);
    return index;
  }

  #fields(kind: number, fields: [string, IDL.Type][]): number[] {
    const entry = [sleb128(kind), ...leb128(fields.length)];
    for (const [name, type] of fields) {
      entry.push(...leb128(idlLabelToId(name)), type.accept(this, null));
    }
    return entry;
  }

  override visitType(type: IDL.Type): number {
    throw new Error(`No result has ${type.display()}: add the type to TypeTable`);
  }

  override visitText(): number {
    return sleb128(candidTypes.text);
  }

  override visitNat(): number {
    return sleb128(candidTypes.nat);
  }

  override visitInt(): number {
    return sleb128(candidTypes.int);
  }

  override visitBool(): number {
    return sleb128(candidTypes.bool);
  }

  override visitNull(): number {
    return sleb128(candidTypes.null);
  }

  override visitEmpty(): number {
    return sleb128(candidTypes.empty);
  }

  override visitFixedNat(type: IDL.FixedNatClass): number {
    if (type === IDL.Nat8) return sleb128(candidTypes.nat8);
    return type === IDL.Nat16 ? sleb128(candidTypes.nat16) : this.visitType(type);
  }

  override visitPrincipal(): number {
    return sleb128(candidTypes.principal);
  }

  override visitOpt(type: IDL.OptClass<unknown>, of: IDL.Type): number {
    return this.#add(type, () => [sleb128(candidTypes.opt), of.accept(this, null)]);
  }

  override visitVec(type: IDL.VecClass<unknown>, of: IDL.Type): number {
    return this.#add(type, () => [sleb128(candidTypes.vec), of.accept(this, null)]);
  }

  override visitRecord(type: IDL.RecordClass, fields: [string, IDL.Type][]): number {
    return this.#add(type, () => this.#fields(candidTypes.record, fields));
  }

  override visitVariant(type: IDL.VariantClass, fields: [string, IDL.Type][]): number {
    return this.#add(type, () => this.#fields(candidTypes.variant, fields));
  }

  override visitTuple(type: IDL.TupleClass<unknown[]>, parts: IDL.Type[]): number {
    const numbered = (part: IDL.Type, index: number) => [index, part.accept(this, null)];
    return this.#add(type, () => {
      return [sleb128(candidTypes.record), parts.length, ...parts.flatMap(numbered)];
    });
  }

  override visitFunc(type: IDL.FuncClass): number {
    const codes = (types: IDL.Type[]) => [
      types.length,
      ...types.map((of) => of.accept(this, null)),
    ];
    return this.#add(type, () => {
      const annotations = type.annotations.map((name) => annotationCodes[name] ?? 0);
      const whole = [...codes(type.argTypes), ...codes(type.retTypes)];
      return [sleb128(functionType), ...whole, annotations.length, ...annotations];
    });
  }
}

/** `type` comes from `resultOf`. */
function headOf(type: IDL.VariantClass): Uint8Array {
  const head = heads.get(type);
  if (head === undefined) {
    throw new Error('The type of a result comes from resultOf()');
  }
  return head;
}

/** Returns the bytes before the value of an `ok`, for messages that are encoded by hand. */
export function headOfOk(type: IDL.VariantClass): Uint8Array {
  // Variants are ordered by hash, so ok precedes err.
  return concatBytes(headOf(type), Uint8Array.of(0));
}

/** Returns the result as a Candid message. */
export function encodeResult(type: IDL.VariantClass, result: object): Uint8Array {
  return concatBytes(headOf(type), type.encodeValue(result as Record<string, unknown>));
}
