// Decodes the arguments of methods within bounds, in place of the Candid library, which takes
// 80,000 instructions a value and works for what bytes declare, not for what they are. Values have
// the library's forms. Candid specification, "Subtyping and coercion".

import { IDL, idlLabelToId } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { countValue, type Message, requireEntry, skip } from './argument-message.ts';
import {
  CandidFault,
  CandidReader,
  candidTypes,
  TypeMismatch,
  UnknownCandid,
} from './candid-reader.ts';

export interface ArgumentBounds {
  readonly bytes: number;
  /** Of all texts together. */
  readonly textBytes: number;
  /** Values, those within others and those that are skipped too. */
  readonly values: number;
}

/** How a value of an expected type is read where the message says that one of `type` stands. */
export interface Plan {
  readonly name: string;
  decode(message: Message, type: number): unknown;
  /** What stands for a value that was not sent; without it there must be one. */
  readonly absent?: [] | null;
}

/** Arguments beyond those that a method has, which are skipped. */
const extraArgumentsMax = 8;

/** Throws a CandidFault for what is not of those types, or beyond the bounds. */
export function decodeWithin(
  plans: readonly Plan[],
  bytes: Uint8Array,
  bounds: ArgumentBounds,
): unknown[] {
  if (bytes.length > bounds.bytes) {
    throw new CandidFault(`has ${bytes.length} bytes where at most ${bounds.bytes} are taken`);
  }
  try {
    return decode(plans, bytes, bounds);
  } catch (error) {
    if (error instanceof UnknownCandid) throw new CandidFault('has a length beyond its end');
    throw error;
  }
}

function decode(plans: readonly Plan[], bytes: Uint8Array, bounds: ArgumentBounds): unknown[] {
  const reader = new CandidReader(bytes, bounds.textBytes);
  const message: Message = { reader, table: reader.table(), valuesLeft: bounds.values };
  const types: number[] = [];
  for (let count = reader.count(plans.length + extraArgumentsMax); count > 0; count--) {
    types.push(reader.type());
  }
  const values = plans.map((plan, index) => {
    const type = types[index];
    return type === undefined ? absentValue(plan) : plan.decode(message, type);
  });
  for (const type of types.slice(plans.length)) skip(message, type, 0);
  reader.end();
  return values;
}

function absentValue(plan: Plan): [] | null {
  if (plan.absent === undefined) {
    throw new TypeMismatch(`lacks a value of the type ${plan.name}`);
  }
  return plan.absent;
}

function plain(name: string, code: number, read: (reader: CandidReader) => unknown): Plan {
  return {
    name,
    decode(message, type) {
      countValue(message);
      // nat is a subtype of int, and all that differs is how it is read.
      if (type === code) return read(message.reader);
      if (code === candidTypes.int && type === candidTypes.nat) {
        return message.reader.bigNumber(false);
      }
      throw new TypeMismatch(`has another type in place of ${name}`);
    },
  };
}

const nullPlan: Plan = { ...plain('null', candidTypes.null, () => null), absent: null };

function optional(of: Plan): Plan {
  return {
    name: `opt ${of.name}`,
    absent: [],
    decode(message, type) {
      countValue(message);
      if (type === candidTypes.null || type === candidTypes.reserved) return [];
      const entry = message.table[type];
      if (entry?.kind !== candidTypes.opt) return attempt(message, type, of);
      const inner = entry.parts[0]?.[1] ?? candidTypes.null;
      return message.reader.flag() ? attempt(message, inner, of) : [];
    },
  };
}

/** A value of another type than the option's counts as none. */
function attempt(message: Message, type: number, of: Plan): [] | [unknown] {
  const start = message.reader.position;
  try {
    return [of.decode(message, type)];
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    message.reader.seek(start);
    skip(message, type, 0);
    return [];
  }
}

const blobPlan: Plan = {
  name: 'vec nat8',
  decode(message, type) {
    countValue(message);
    const entry = requireEntry(message, type, candidTypes.vec);
    if (entry.parts[0]?.[1] !== candidTypes.nat8) {
      throw new TypeMismatch('has another type in place of vec nat8');
    }
    return message.reader.blob();
  },
};

function vector(of: Plan): Plan {
  return {
    name: `vec ${of.name}`,
    decode(message, type) {
      countValue(message);
      const element = requireEntry(message, type, candidTypes.vec).parts[0]?.[1] ?? 0;
      const values: unknown[] = [];
      for (let count = message.reader.count(message.valuesLeft); count > 0; count--) {
        values.push(of.decode(message, element));
      }
      return values;
    },
  };
}

type Fields = readonly (readonly [name: string, plan: Plan])[];

/** `isTuple`: the values as an array, fields being numbered. */
function record(fields: Fields, isTuple: boolean): Plan {
  const byId = new Map(
    fields.map(([name, plan], index) => [isTuple ? index : idlLabelToId(name), { name, plan }]),
  );
  return {
    name: 'record',
    decode(message, type) {
      countValue(message);
      const found: Record<string, unknown> = {};
      for (const [id, part] of requireEntry(message, type, candidTypes.record).parts) {
        const field = byId.get(id);
        if (field === undefined) skip(message, part, 0);
        else found[field.name] = field.plan.decode(message, part);
      }
      for (const [name, plan] of fields) {
        if (found[name] === undefined) found[name] = absentValue(plan);
      }
      return isTuple ? fields.map(([name]) => found[name]) : found;
    },
  };
}

function variant(fields: Fields): Plan {
  const byId = new Map(fields.map(([name, plan]) => [idlLabelToId(name), { name, plan }]));
  return {
    name: 'variant',
    decode(message, type) {
      countValue(message);
      const { parts } = requireEntry(message, type, candidTypes.variant);
      const [id, part] = parts[message.reader.unsigned()] ?? [-1, 0];
      const chosen = byId.get(id);
      if (chosen === undefined) {
        throw new TypeMismatch('has an alternative that is not known');
      }
      return { [chosen.name]: chosen.plan.decode(message, part) };
    },
  };
}

/** From the types of the interface to plans. */
class Planner extends IDL.Visitor<null, Plan> {
  override visitType(type: IDL.Type): Plan {
    throw new Error(`No method takes ${type.display()}: add it to the argument decoder`);
  }

  override visitText(): Plan {
    return plain('text', candidTypes.text, (reader) => reader.text());
  }

  override visitNat(): Plan {
    return plain('nat', candidTypes.nat, (reader) => reader.bigNumber(false));
  }

  override visitInt(): Plan {
    return plain('int', candidTypes.int, (reader) => reader.bigNumber(true));
  }

  override visitBool(): Plan {
    return plain('bool', candidTypes.bool, (reader) => reader.flag());
  }

  override visitNull(): Plan {
    return nullPlan;
  }

  override visitFixedNat(type: IDL.FixedNatClass): Plan {
    if (type !== IDL.Nat16) return this.visitType(type);
    return plain('nat16', candidTypes.nat16, (reader) => reader.byte() + 256 * reader.byte());
  }

  override visitPrincipal(): Plan {
    return plain('principal', candidTypes.principal, (reader) =>
      Principal.fromUint8Array(reader.principal()),
    );
  }

  override visitOpt(_: unknown, type: IDL.Type): Plan {
    return optional(planOf(type));
  }

  override visitVec(_: unknown, type: IDL.Type): Plan {
    return type === IDL.Nat8 ? blobPlan : vector(planOf(type));
  }

  override visitRecord(_: unknown, fields: [string, IDL.Type][]): Plan {
    return record(
      fields.map(([name, type]) => [name, planOf(type)]),
      false,
    );
  }

  override visitTuple(_: unknown, types: IDL.Type[]): Plan {
    return record(
      types.map((type, index) => [String(index), planOf(type)]),
      true,
    );
  }

  override visitVariant(_: unknown, fields: [string, IDL.Type][]): Plan {
    return variant(fields.map(([name, type]) => [name, planOf(type)]));
  }
}

/** Made once for each method, at install and upgrade. */
export function planOf(type: IDL.Type): Plan {
  return type.accept(new Planner(), null);
}
