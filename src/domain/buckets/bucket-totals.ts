// Totals over all buckets, updated with every change so that the status does not scan.

import { emptyBytes } from '../../lib/bytes.ts';
import { asciiBytes } from '../../lib/text.ts';
import { packFields, RecordReader, unpackFields } from '../../storage/codec.ts';
import type { Stores } from '../shared/stores.ts';

export interface Totals {
  readonly buckets: number;
  readonly files: number;
  readonly bytes: number;
}

// Small fields: version 2; numbers: buckets, files, bytes; in the meta map. Release 0.1.0 wrote
// 0: version 1 | buckets u64 | files u64 | bytes u64
const version = 2;
const formerVersion = 1;
const fieldCount = { longs: 0, numbers: 3 } as const;
const totalsKey = asciiBytes('totals');

export function readTotals(stores: Stores): Totals {
  const stored = stores.meta.get(totalsKey);
  if (stored === undefined) {
    return { buckets: 0, files: 0, bytes: 0 };
  }
  if (stored[0] !== version) {
    const reader = new RecordReader(stored, formerVersion);
    return { buckets: reader.integer(), files: reader.integer(), bytes: reader.integer() };
  }
  const { numbers } = unpackFields(stored, fieldCount);
  return { buckets: numbers[0] ?? 0, files: numbers[1] ?? 0, bytes: numbers[2] ?? 0 };
}

export function changeTotals(stores: Stores, change: Totals): void {
  if (change.buckets === 0 && change.files === 0 && change.bytes === 0) {
    return;
  }
  const { buckets, files, bytes } = readTotals(stores);
  const numbers = [buckets + change.buckets, files + change.files, bytes + change.bytes];
  stores.meta.set(
    totalsKey,
    packFields({ small: [version], longs: [], numbers, rest: emptyBytes }),
  );
}
