// The JSON records of a list of files, joined by one call of the kernel (kernel/records.ts) for
// each 128 files: JavaScript takes 90,000 instructions for a file.

import { createCommand, kernelCall, kernelOperations, kernelWords } from '../../crypto/kernel.ts';
import { joinedTails, recordBytesExpected } from '../../storage/record-map.ts';
import type { Stores } from '../shared/stores.ts';
import { fileMapKey, jsonStart } from './file-layout.ts';
import { eachRecord } from './file-records.ts';

const command = createCommand(kernelOperations.recordsJson, 4);
const batchMax = 128;
const u32Max = 0xffff_ffff;

export interface JsonList {
  /** UTF-8 of the records, with commas between. */
  readonly json: readonly Uint8Array[];
  /** Number of paths that it has visited: all, unless `limit` was reached. */
  readonly visited: number;
}

interface Wanted {
  readonly bucketId: string;
  /** UTF-8; a path without a record, or with one that cannot be shown, is skipped. */
  readonly paths: readonly Uint8Array[];
  /** Stops after the file with which the JSON has this many bytes. */
  readonly limit: number;
}

export function listJson(stores: Stores, { bucketId, paths, limit }: Wanted): JsonList {
  const head = fileMapKey(bucketId, '');
  const json: Uint8Array[] = [];
  let visited = 0;
  let bytes = 0;
  const add = (part: Uint8Array) => {
    if (part.length > 0) json.push(part);
    bytes += part.length;
  };
  while (visited < paths.length && bytes < limit) {
    const batch = paths.slice(visited, visited + batchMax);
    const { count, part } = joinedJson(stores, { head, paths: batch, limit: limit - bytes });
    add(part);
    visited += count;
    const next = batch[count];
    if (next === undefined || bytes >= limit) continue;
    // A long record, one of release 0.1.0, or a damaged one
    eachRecord(stores, { bucketId, paths: [next] }, (record, end) => {
      add(record.slice(jsonStart(record), end));
      return true;
    });
    visited += 1;
  }
  return { json, visited };
}

function joinedJson(
  stores: Stores,
  wanted: { readonly head: Uint8Array; readonly paths: readonly Uint8Array[]; limit: number },
) {
  const { head, paths, limit } = wanted;
  const { joined, lengths } = joinedTails(paths);
  const out = new Uint8Array(paths.length * recordBytesExpected);
  const { bytes, words } = command;
  words[kernelWords.selector] = stores.records.space;
  words[kernelWords.offset] = Math.min(limit, u32Max);
  kernelCall(bytes);
  kernelCall(head);
  kernelCall(joined);
  kernelCall(lengths);
  kernelCall(out);
  const end = words[kernelWords.longResult] ?? 0;
  return { count: words[kernelWords.result] ?? 0, part: out.subarray(0, end) };
}
