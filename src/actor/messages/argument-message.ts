// A message whose arguments are being decoded. Each value counts, whether it is expected or
// skipped, which bounds the work. Candid specification, "Binary format".

import { CandidFault, type CandidReader, candidTypes, type TableEntry } from '../candid/reader.ts';

export interface Message {
  readonly reader: CandidReader;
  readonly table: readonly TableEntry[];
  valuesLeft: number;
}

/** Maximum depth of a skipped value. */
const skippedDepthMax = 8;

export function countValue(message: Message): void {
  message.valuesLeft -= 1;
  if (message.valuesLeft < 0) {
    throw new CandidFault('has more values than this method accepts');
  }
}

/** Bytes of the primitive types from bool, -2, to float64, -14; 0 for LEB128. */
const plainSizes = [1, 0, 0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8] as const;

/** Skips a value, which counts like any other. */
export function skip(message: Message, type: number, depth: number): void {
  countValue(message);
  if (depth > skippedDepthMax) {
    throw new CandidFault('is nested too deeply');
  }
  const { reader } = message;
  if (type >= 0) {
    skipComposed(message, type, depth);
  } else if (type === candidTypes.text) {
    reader.blob();
  } else if (type === candidTypes.principal) {
    reader.principal();
  } else if (type === candidTypes.nat || type === candidTypes.int) {
    reader.bigNumber(false);
  } else if (type !== candidTypes.null && type !== candidTypes.reserved) {
    const size = plainSizes[-2 - type];
    if (size === undefined) throw new CandidFault('has a value of an unknown type');
    reader.view(size);
  }
}

function skipComposed(message: Message, type: number, depth: number): void {
  const { reader, table } = message;
  const entry = table[type];
  const inner = entry?.parts[0]?.[1] ?? candidTypes.null;
  switch (entry?.kind) {
    case candidTypes.opt:
      if (reader.flag()) skip(message, inner, depth + 1);
      return;
    case candidTypes.vec:
      if (inner === candidTypes.nat8) {
        reader.blob();
        return;
      }
      for (let count = reader.count(message.valuesLeft); count > 0; count--) {
        skip(message, inner, depth + 1);
      }
      return;
    case candidTypes.record:
      for (const [, part] of entry.parts) skip(message, part, depth + 1);
      return;
    case candidTypes.variant: {
      const chosen = entry.parts[reader.unsigned()];
      if (chosen === undefined) throw new CandidFault('has a variant index beyond its type');
      skip(message, chosen[1], depth + 1);
      return;
    }
    default:
      throw new CandidFault('has a type that is not in its table');
  }
}
