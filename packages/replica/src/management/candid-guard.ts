// Protects the decoder from hostile Candid: a few bytes can declare four billion nulls, records
// that double at each level, or nested options that are decoded again at each level. Only the type
// table is read. Candid spec, "Binary format"; the network limits the same costs by a decoding
// quota.

import { IDL, lebDecode, PipeArrayBuffer, slebDecode } from '@dfinity/candid';

/** Far more than the interface needs: 30 parts in a record, 6 levels, 2 options per path. */
const partsMax = 200;
const levelsMax = 20;
const optionsMax = 5;

type Kind = 'opt' | 'vec' | 'record' | 'variant' | 'func';

interface Entry {
  readonly kind: Kind;
  readonly parts: readonly number[];
}

interface Cost {
  /** Number of values in one value; a vector, option or variant counts as one. */
  readonly parts: number;
  /** Whether a value can take no bytes. */
  readonly isEmpty: boolean;
  readonly levels: number;
  readonly options: number;
}

interface Search {
  readonly table: readonly Entry[];
  readonly costs: Map<number, Cost>;
  /** The enclosing types of the present one. */
  readonly open: Set<number>;
}

const emptyPrimitives = new Set([-1 /* null */, -16 /* reserved */, -17 /* empty */]);
const functionCode = -22;
const kindByCode: Readonly<Record<number, Kind>> = {
  [-18]: 'opt',
  [-19]: 'vec',
  [-20]: 'record',
  [-21]: 'variant',
};

/** Decodes the first argument. Throws if it is malformed or costs far more than its bytes. */
export function decodeGuarded(types: readonly IDL.Type[], bytes: Uint8Array): unknown {
  // Copies a view, because the decoder reads from the start of its buffer, ignoring the offset.
  const own = new Uint8Array(bytes);
  refuseCostlyTypes(own);
  return IDL.decode([...types], own)[0];
}

function refuseCostlyTypes(bytes: Uint8Array): void {
  const search = { table: readTypeTable(bytes), costs: new Map(), open: new Set<number>() };
  for (let type = 0; type < search.table.length; type += 1) costOf(type, search);
}

function costOf(type: number, search: Search): Cost {
  if (type < 0) return { parts: 1, isEmpty: emptyPrimitives.has(type), levels: 0, options: 0 };
  const known = search.costs.get(type);
  if (known !== undefined) return known;
  const entry = search.table[type];
  if (entry === undefined) throw new Error(`type ${type} is not in its type table`);
  if (search.open.has(type)) throw new Error('its types are recursive');
  if (search.open.size >= levelsMax) throw new Error('its types are nested too deeply');
  search.open.add(type);
  const cost = sum(
    entry.kind,
    entry.parts.map((part) => costOf(part, search)),
  );
  search.open.delete(type);
  search.costs.set(type, cost);
  return cost;
}

function sum(kind: Kind, parts: readonly Cost[]): Cost {
  const isRecord = kind === 'record';
  const cost = {
    parts: isRecord || kind === 'func' ? parts.reduce((total, part) => total + part.parts, 1) : 1,
    isEmpty: isRecord && parts.every((part) => part.isEmpty),
    levels: 1 + parts.reduce((most, part) => Math.max(most, part.levels), 0),
    options:
      (kind === 'opt' ? 1 : 0) + parts.reduce((most, part) => Math.max(most, part.options), 0),
  };
  if (kind === 'vec' && parts[0]?.isEmpty) throw new Error('a vector of values without bytes');
  if (cost.parts > partsMax) throw new Error(`a record of more than ${partsMax} parts`);
  if (cost.levels > levelsMax || cost.options > optionsMax) {
    throw new Error('its types are nested too deeply');
  }
  return cost;
}

function readTypeTable(bytes: Uint8Array): Entry[] {
  const pipe = new PipeArrayBuffer(bytes);
  const magic = Buffer.from(pipe.read(Math.min(4, bytes.length))).toString('latin1');
  if (magic !== 'DIDL') throw new Error('it does not start with DIDL');
  return Array.from({ length: readCount(pipe) }, () => readEntry(pipe));
}

function readEntry(pipe: PipeArrayBuffer): Entry {
  const code = readType(pipe);
  const kind = kindByCode[code];
  if (code === functionCode) return readFunction(pipe);
  if (kind === undefined) throw new Error(`type code ${code} is not allowed in an argument`);
  if (kind === 'opt' || kind === 'vec') return { kind, parts: [readType(pipe)] };
  const parts = Array.from({ length: readCount(pipe) }, () => {
    lebDecode(pipe);
    return readType(pipe);
  });
  return { kind, parts };
}

/**
 * Reads a function's signature; values never have its types, but the decoder compares and prints
 * them.
 */
function readFunction(pipe: PipeArrayBuffer): Entry {
  const [taken, given] = [readTypes(pipe), readTypes(pipe)];
  pipe.read(readCount(pipe));
  return { kind: 'func', parts: [...taken, ...given] };
}

function readTypes(pipe: PipeArrayBuffer): number[] {
  return Array.from({ length: readCount(pipe) }, () => readType(pipe));
}

/** Reads a count, and refuses one above the remaining bytes: each item takes at least one. */
function readCount(pipe: PipeArrayBuffer): number {
  const count = lebDecode(pipe);
  if (count > BigInt(pipe.byteLength)) throw new Error('it ends inside its type table');
  return Number(count);
}

function readType(pipe: PipeArrayBuffer): number {
  return Number(slebDecode(pipe));
}
