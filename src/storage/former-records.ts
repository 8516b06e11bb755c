// The records, and during the upgrade from release 0.1.0 also those that are still in the two
// stable maps of that release: of files, and of chunks, whose keys lacked the first byte. A record
// is read where it is. Writing and deleting take it out of the former map; moveFormer() moves the
// rest, a bounded number at a time.

import { concatBytes } from '../lib/bytes.ts';
import type { ByteMap } from './byte-map.ts';
import type { RecordMap } from './record-map.ts';

export interface FormerMaps {
  readonly files: ByteMap;
  readonly chunks: ByteMap;
}

export interface Records extends RecordMap {
  /** Also reads these maps from now on. */
  attachFormer(maps: FormerMaps): void;
  /**
   * Moves records out of the former maps, each with the weight that `weigh` returns. Returns false
   * once they are empty, and no longer reads them.
   */
  moveFormer(limit: number, weigh: (key: Uint8Array, record: Uint8Array) => number): boolean;
}

/** First byte of the keys of chunks. */
const chunkKind = 2;
const chunkHead = Uint8Array.of(chunkKind);

export function withFormerRecords(records: RecordMap): Records {
  let maps: FormerMaps | undefined;

  function formerGet(key: Uint8Array): Uint8Array | undefined {
    if (maps === undefined) return undefined;
    return key[0] === chunkKind ? maps.chunks.get(key.subarray(1)) : maps.files.get(key);
  }

  function takeFormer(key: Uint8Array): Uint8Array | undefined {
    if (maps === undefined) return undefined;
    return key[0] === chunkKind ? maps.chunks.delete(key.subarray(1)) : maps.files.delete(key);
  }

  return {
    ...records,
    get: (key) => records.get(key) ?? formerGet(key),
    has: (key) => records.has(key) || formerGet(key) !== undefined,
    set: (key, record, weight) => records.set(key, record, weight) ?? takeFormer(key),
    delete: (key) => records.delete(key) ?? takeFormer(key),
    each(keys, visit) {
      if (maps === undefined) {
        records.each(keys, visit);
        return;
      }
      records.each(keys, (record, tail) => {
        return visit(record ?? formerGet(concatBytes(keys.head, tail)), tail);
      });
    },
    attachFormer(given) {
      maps = given;
    },
    moveFormer(limit, weigh) {
      if (maps === undefined) return false;
      const { files, chunks } = maps;
      const fileKeys = files.keys(0, limit);
      for (const key of fileKeys) move(key, files.delete(key), weigh);
      const chunkKeys = chunks.keys(0, limit - fileKeys.length);
      for (const key of chunkKeys) {
        move(concatBytes(chunkHead, key), chunks.delete(key), () => 0);
      }
      if (fileKeys.length + chunkKeys.length < limit) maps = undefined;
      return maps !== undefined;
    },
  };

  function move(
    key: Uint8Array,
    record: Uint8Array | undefined,
    weigh: (key: Uint8Array, record: Uint8Array) => number,
  ): void {
    if (record !== undefined) records.set(key, record, weigh(key, record));
  }
}
