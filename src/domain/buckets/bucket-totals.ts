// Totals over all buckets, updated with every change so that the status does not scan.

import { encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import type { Stores } from '../shared/stores.ts';

export interface Totals {
  readonly buckets: number;
  readonly files: number;
  readonly bytes: number;
}

// 0: version 1 | buckets u64 | files u64 | bytes u64; in the meta map
const version = 1;
const totalsKey = 'totals';

export function readTotals(stores: Stores): Totals {
  const stored = stores.meta.get(encodeUtf8(totalsKey));
  if (stored === undefined) {
    return { buckets: 0, files: 0, bytes: 0 };
  }
  const reader = new RecordReader(stored, version);
  return { buckets: reader.integer(), files: reader.integer(), bytes: reader.integer() };
}

export function changeTotals(stores: Stores, change: Totals): void {
  if (change.buckets === 0 && change.files === 0 && change.bytes === 0) {
    return;
  }
  const { buckets, files, bytes } = readTotals(stores);
  const record = new RecordWriter(version)
    .u64(buckets + change.buckets)
    .u64(files + change.files)
    .u64(bytes + change.bytes);
  stores.meta.set(encodeUtf8(totalsKey), record.finish([]));
}
