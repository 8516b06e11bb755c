// The types of the interface, named as src/actor exports them. The build runs this module in the
// canister's engine, where methods have the types that they decode; it is never deployed.

import { IDL } from '@dfinity/candid';
import * as endToEnd from '../src/actor/candid/end-to-end.ts';
import * as fileReads from '../src/actor/candid/file-reads.ts';
import * as http from '../src/actor/candid/http.ts';
import * as journal from '../src/actor/candid/journal.ts';
import * as operations from '../src/actor/candid/operations.ts';
import * as retention from '../src/actor/candid/retention.ts';
import * as rules from '../src/actor/candid/rules.ts';
import * as service from '../src/actor/candid/service.ts';
import * as subscriptions from '../src/actor/candid/subscriptions.ts';
import * as files from '../src/actor/candid/types.ts';

/** Types in Candid's notation, using named ones where possible. */
export interface InterfaceTypes {
  /** The arguments of install and upgrade. */
  readonly init: readonly string[];
  /** The notation of a named type, or its fields, where '' stands for the type null. */
  readonly types: Readonly<Record<string, string | NamedFields>>;
  /** `(…) -> (…) query` by method name. */
  readonly methods: Readonly<Record<string, string>>;
  /** The whole interface as Candid's library displays it. */
  readonly display: string;
}

export interface NamedFields {
  readonly kind: 'record' | 'variant';
  readonly fields: Readonly<Record<string, string>>;
}

const names = new Map<IDL.Type, string>();
const records = { ...files, ...fileReads, ...endToEnd, ...retention, ...rules, ...operations };
const exported = { ...records, ...service, ...journal, ...subscriptions, ...http };
for (const [name, type] of Object.entries(exported)) {
  // Results have no names in the interface; their variants are written out.
  if (type instanceof IDL.Type && !name.startsWith('Result')) names.set(type, name);
}

const keywords = ['principal', 'query', 'text', 'type', 'service', 'opt', 'func'];

function label(name: string): string {
  return keywords.includes(name) ? `"${name}"` : name;
}

class Writer extends IDL.Visitor<null, string> {
  write(type: IDL.Type): string {
    return names.get(type) ?? type.accept(this, null);
  }

  list(types: readonly IDL.Type[]): string {
    return `(${types.map((type) => this.write(type)).join(', ')})`;
  }

  fields(fields: readonly [string, IDL.Type][]): [string, string][] {
    return fields.map(([name, type]) => [label(name), type === IDL.Null ? '' : this.write(type)]);
  }

  override visitType(type: IDL.Type): string {
    throw new Error(`Cannot write ${type.display()}: add it to scripts/interface-types.ts`);
  }

  override visitPrimitive(type: IDL.PrimitiveType): string {
    return type.name;
  }

  override visitOpt(_: unknown, type: IDL.Type): string {
    return `opt ${this.write(type)}`;
  }

  override visitVec(_: unknown, type: IDL.Type): string {
    return `vec ${this.write(type)}`;
  }

  override visitTuple(_: unknown, types: IDL.Type[]): string {
    return `record {${types.map((type) => this.write(type)).join('; ')}}`;
  }

  override visitRecord(type: IDL.RecordClass): string {
    throw new Error(`Export ${type.display()} from src/actor under a name of its own`);
  }

  override visitVariant(_: unknown, fields: [string, IDL.Type][]): string {
    const written = this.fields(fields).map(([name, type]) => (type ? `${name}:${type}` : name));
    return `variant {${written.join('; ')}}`;
  }

  override visitFunc(type: IDL.FuncClass): string {
    return `func ${this.signature(type)}`;
  }

  signature({ argTypes, retTypes, annotations }: IDL.FuncClass): string {
    return [this.list(argTypes), '->', this.list(retTypes), ...annotations].join(' ');
  }
}

function namedType(type: IDL.Type, writer: Writer): string | NamedFields {
  if (type instanceof IDL.VariantClass || type instanceof IDL.RecordClass) {
    const kind = type instanceof IDL.VariantClass ? 'variant' : 'record';
    const isTuple = type instanceof IDL.TupleClass;
    if (!isTuple) return { kind, fields: Object.fromEntries(writer.fields(type._fields)) };
  }
  return type.accept(writer, null);
}

/** Replaces Azle's `idlToString`; returns InterfaceTypes as JSON. */
export function interfaceTypes(
  service: IDL.ServiceClass,
  { initAndPostUpgradeParamIdlTypes: init }: { initAndPostUpgradeParamIdlTypes: IDL.Type[] },
): string {
  const writer = new Writer();
  const types = [...names].map(([type, name]) => [name, namedType(type, writer)]);
  const methods = service._fields.map(([name, type]) => [name, writer.signature(type)]);
  const written: InterfaceTypes = {
    init: init.map((type) => writer.write(type)),
    types: Object.fromEntries(types),
    methods: Object.fromEntries(methods),
    display: service.display(),
  };
  return JSON.stringify(written);
}
