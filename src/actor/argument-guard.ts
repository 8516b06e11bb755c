// Walks the argument of a small method by the types that it declares, before the library decodes
// it: bytes that decode into very many values, or into very deep ones, keep the library busy until
// the message has no instructions left. Candid specification, "Binary format".

import { argumentValueCountMax } from '../limits.ts';
import { type CandidReader, candidTypes, readCandid, type TableEntry } from './candid-reader.ts';

const depthMax = 6;
/** Bytes of a number: far beyond 64 bits. */
const numberBytesMax = 20;
const bool = -2;
const int = -4;
const principal = -24;
const nullType = -1;

interface Walk {
  readonly reader: CandidReader;
  readonly table: readonly TableEntry[];
  values: number;
}

/** Whether it has that many arguments at most, made of few values of the plain types. */
export function isModestArgument(bytes: Uint8Array, countMax: number): boolean {
  try {
    return readCandid(bytes, (reader) => walkArguments(reader, countMax)) === true;
  } catch {
    // A table that is too long.
    return false;
  }
}

function walkArguments(reader: CandidReader, countMax: number): boolean {
  const walk: Walk = { reader, table: reader.table(), values: 0 };
  const types = Array.from({ length: reader.count(countMax) }, () => reader.type());
  return types.every((type) => walkValue(walk, type, 0));
}

function walkValue(walk: Walk, type: number, depth: number): boolean {
  walk.values += 1;
  if (walk.values > argumentValueCountMax || depth > depthMax) {
    return false;
  }
  return type < 0 ? walkPlain(walk.reader, type) : walkComposed(walk, type, depth);
}

function walkPlain(reader: CandidReader, type: number): boolean {
  switch (type) {
    case candidTypes.text:
      reader.blob();
      return true;
    case candidTypes.nat:
    case int:
      return isNumber(reader);
    case bool:
    case candidTypes.nat8:
      reader.byte();
      return true;
    case principal:
      if (reader.byte() !== 1) return false;
      reader.blob();
      return true;
    // Without bytes of its own: harmless, since each value counts.
    default:
      return type === nullType;
  }
}

function isNumber(reader: CandidReader): boolean {
  for (let count = 0; count < numberBytesMax; count++) {
    if (reader.byte() < 0x80) {
      return true;
    }
  }
  return false;
}

function walkComposed(walk: Walk, type: number, depth: number): boolean {
  const entry = walk.table[type];
  const element = entry?.parts[0]?.[1];
  if (entry === undefined) {
    return false;
  }
  if (entry.kind === candidTypes.record) {
    return entry.parts.every(([, part]) => walkValue(walk, part, depth + 1));
  }
  if (entry.kind === candidTypes.variant) {
    const chosen = entry.parts[walk.reader.unsigned()]?.[1];
    return chosen !== undefined && walkValue(walk, chosen, depth + 1);
  }
  if (element === undefined) {
    return false;
  }
  if (entry.kind === candidTypes.opt) {
    const tag = walk.reader.byte();
    return tag === 0 || (tag === 1 && walkValue(walk, element, depth + 1));
  }
  if (element === candidTypes.nat8) {
    walk.reader.blob();
    return true;
  }
  for (let count = walk.reader.unsigned(); count > 0; count--) {
    if (!walkValue(walk, element, depth + 1)) return false;
  }
  return true;
}
