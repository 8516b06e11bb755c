// Decodes the arguments of methods within bounds. It replaces the Candid library, which takes
// 80,000 instructions per value and whose work depends on what the bytes declare; it returns values
// in the same form. It follows the Candid specification, "Subtyping and coercion", except for one
// rule: an option of another type is refused. Candid would treat it as absent, so that a key whose
// expiry came as a text would never expire.

import { IDL, idlLabelToId } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import {
  CandidFault,
  CandidReader,
  candidTypes,
  type TableEntry,
  UnknownCandid,
} from '../candid/reader.ts';
import { asOptional, below, mismatch, missing, ofArgument } from './argument-faults.ts';
import { countValue, type Message, skip } from './argument-message.ts';

export interface ArgumentBounds {
  readonly bytes: number;
  /** Maximum total bytes of all texts. */
  readonly textBytes: number;
  /** Number of values, including nested and skipped ones. */
  readonly values: number;
}

/** Reads a value of an expected type; `type` is the type that the message declares for it. */
export interface Plan {
  /** Returns the Candid text of the type, for errors. */
  name(): string;
  decode(message: Message, type: number): unknown;
  /** Default of an absent value; a plan without this field requires the value. */
  readonly absent?: [] | null;
}

/** Maximum number of additional arguments, which are skipped. */
const extraArgumentsMax = 8;

/** Throws a CandidFault for values of other types or beyond the bounds. */
export function decodeWithin(
  plans: readonly Plan[],
  bytes: Uint8Array,
  bounds: ArgumentBounds,
): unknown[] {
  if (bytes.length > bounds.bytes) {
    throw new CandidFault(`has ${bytes.length} bytes, more than the limit of ${bounds.bytes}`);
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
  const countMax = plans.length + extraArgumentsMax;
  for (let count = reader.count(countMax, 'arguments'); count > 0; count--) {
    types.push(reader.type());
  }
  const values = plans.map((plan, index) => {
    const type = types[index];
    try {
      return type === undefined ? absentValue(plan) : plan.decode(message, type);
    } catch (error) {
      throw ofArgument(plans.length === 1 ? 'the argument' : `argument ${index + 1}`, error);
    }
  });
  for (const type of types.slice(plans.length)) skip(message, type, 0);
  reader.end();
  return values;
}

function absentValue(plan: Plan): [] | null {
  if (plan.absent === undefined) throw missing(plan.name());
  return plan.absent;
}

/** Returns the entry of a composed type of that kind. */
function requireEntry(plan: Plan, message: Message, type: number, kind: number): TableEntry {
  const entry = message.table[type];
  if (entry?.kind !== kind) throw mismatch(plan.name(), message, type);
  return entry;
}

function plain(name: string, code: number, read: (reader: CandidReader) => unknown): Plan {
  return {
    name: () => name,
    decode(message, type) {
      countValue(message);
      // nat is a subtype of int that only differs in its encoding.
      if (type === code) return read(message.reader);
      if (code === candidTypes.int && type === candidTypes.nat) {
        return message.reader.bigNumber(false);
      }
      throw mismatch(name, message, type);
    },
  };
}

const nullPlan: Plan = { ...plain('null', candidTypes.null, () => null), absent: null };

function optional(of: Plan): Plan {
  return {
    name: () => `opt ${of.name()}`,
    absent: [],
    decode(message, type) {
      countValue(message);
      if (type === candidTypes.null || type === candidTypes.reserved) return [];
      const entry = message.table[type];
      try {
        if (entry?.kind !== candidTypes.opt) return [of.decode(message, type)];
        const inner = entry.parts[0]?.[1] ?? candidTypes.null;
        return message.reader.flag() ? [of.decode(message, inner)] : [];
      } catch (error) {
        throw asOptional(error, message, type);
      }
    },
  };
}

const blobPlan: Plan = {
  name: () => 'vec nat8',
  decode(message, type) {
    countValue(message);
    const entry = message.table[type];
    if (entry?.kind !== candidTypes.vec || entry.parts[0]?.[1] !== candidTypes.nat8) {
      throw mismatch('vec nat8', message, type);
    }
    return message.reader.blob();
  },
};

function vector(of: Plan): Plan {
  const plan: Plan = {
    name: () => `vec ${of.name()}`,
    decode(message, type) {
      countValue(message);
      const element = requireEntry(plan, message, type, candidTypes.vec).parts[0]?.[1] ?? 0;
      const values: unknown[] = [];
      const count = message.reader.count(message.valuesLeft);
      try {
        while (values.length < count) values.push(of.decode(message, element));
      } catch (error) {
        throw below(`[${values.length}]`, error);
      }
      return values;
    },
  };
  return plan;
}

type Fields = readonly (readonly [name: string, plan: Plan])[];

/** `isTuple`: returns the values as an array; the fields are numbered. */
function record(fields: Fields, isTuple: boolean): Plan {
  const byId = new Map(
    fields.map(([name, plan], index) => [isTuple ? index : idlLabelToId(name), { name, plan }]),
  );
  const whole: Plan = {
    name() {
      const parts = fields.map(([name, plan]) => (isTuple ? plan.name() : name));
      return `record {${parts.join('; ')}}`;
    },
    decode(message, type) {
      countValue(message);
      const found: Record<string, unknown> = {};
      let place = '';
      try {
        for (const [id, part] of requireEntry(whole, message, type, candidTypes.record).parts) {
          const field = byId.get(id);
          place = field?.name ?? '';
          if (field === undefined) skip(message, part, 0);
          else found[place] = field.plan.decode(message, part);
        }
        for (const [name, plan] of fields) {
          place = name;
          if (found[name] === undefined) found[name] = absentValue(plan);
        }
      } catch (error) {
        throw below(place, error);
      }
      return isTuple ? fields.map(([name]) => found[name]) : found;
    },
  };
  return whole;
}

function variant(fields: Fields): Plan {
  const byId = new Map(fields.map(([name, plan]) => [idlLabelToId(name), { name, plan }]));
  const names = () => fields.map(([name]) => name).join('; ');
  const whole: Plan = {
    name: () => `variant {${names()}}`,
    decode(message, type) {
      countValue(message);
      const { parts } = requireEntry(whole, message, type, candidTypes.variant);
      const [id, part] = parts[message.reader.unsigned()] ?? [-1, 0];
      const chosen = byId.get(id);
      if (chosen === undefined) {
        throw new CandidFault(`has an unknown variant tag: it must be one of ${names()}`);
      }
      try {
        return { [chosen.name]: chosen.plan.decode(message, part) };
      } catch (error) {
        throw below(chosen.name, error);
      }
    },
  };
  return whole;
}

/** Turns types of the interface into plans. */
class Planner extends IDL.Visitor<null, Plan> {
  override visitType(type: IDL.Type): Plan {
    throw new Error(`No method takes ${type.display()}: add the type to Planner`);
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

/** Called once for each method, at install and upgrade. */
export function planOf(type: IDL.Type): Plan {
  return type.accept(new Planner(), null);
}
