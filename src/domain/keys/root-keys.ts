// The root key, from which all others hang: which one it is, whether it is at hand, and that it is
// the right one. A root key derived by the network's vetKD is on the heap only; a stored one lies
// in an erasable slot. How it is derived is the actor's business.

import { hmacSha256 } from '../../crypto/kdf.ts';
import { assert, present } from '../../lib/assert.ts';
import { bytesEqual, concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { slotBytes } from '../../storage/erasable-slots.ts';
import { Refusal } from '../shared/refusal.ts';
import type { RootKeyEntry } from '../shared/root-key-entry.ts';
import type { Stores } from '../shared/stores.ts';

/** A root key's source; the name of a vetKD key, or the first that the network knows. */
export type RootKeySource =
  | { readonly kind: 'vetkd'; readonly keyName: string | undefined }
  | { readonly kind: 'stored' };

export const rootKeyBytes = 32;

// 0: version 1 | count u8 | of each: version u32, kind u8 (0 vetKD, 1 stored), slot u64,
//    check (length, bytes) | texts: key name of each; in the meta map. The last one is current.
const recordVersion = 1;
const metaKey = 'rootKeys';
const checkText = 'encrypted-file-storage/root-key-check';

/** The current one last; one, or two while keys are wrapped anew; none before configuration. */
export function rootKeyEntries(stores: Stores): readonly RootKeyEntry[] {
  // Heap and stable memory are rolled back together.
  stores.heap.rootKeyEntries ??= readRootKeyEntries(stores);
  return stores.heap.rootKeyEntries;
}

function readRootKeyEntries(stores: Stores): RootKeyEntry[] {
  const stored = stores.meta.get(encodeUtf8(metaKey));
  if (stored === undefined) {
    return [];
  }
  const reader = new RecordReader(stored, recordVersion);
  const count = reader.u8();
  const heads = Array.from({ length: count }, () => ({
    version: reader.u32(),
    kind: reader.u8() === 0 ? ('vetkd' as const) : ('stored' as const),
    slot: reader.integer(),
    check: reader.bytes(),
  }));
  const names = reader.texts();
  return heads.map((head, index) => ({ ...head, keyName: names[index] ?? '' }));
}

function saveRootKeyEntries(stores: Stores, entries: readonly RootKeyEntry[]): void {
  const writer = new RecordWriter(recordVersion).u8(entries.length);
  for (const { version, kind, slot, check } of entries) {
    writer
      .u32(version)
      .u8(kind === 'vetkd' ? 0 : 1)
      .u64(slot)
      .bytes(check);
  }
  const record = writer.finish(entries.map(({ keyName }) => keyName));
  stores.meta.set(encodeUtf8(metaKey), record);
  stores.heap.rootKeyEntries = entries;
}

function newRootKeyEntry(version: number, source: RootKeySource): RootKeyEntry {
  const keyName = source.kind === 'vetkd' ? (source.keyName ?? '') : '';
  return { version, kind: source.kind, keyName, slot: 0, check: emptyBytes };
}

/**
 * For install and upgrade: notes where the root key comes from. Once there is one, only rotation
 * changes it: another source is then refused.
 */
export function configureRootKey(stores: Stores, source: RootKeySource | undefined): void {
  const entries = rootKeyEntries(stores);
  const current = entries.at(-1);
  if (current === undefined || (source !== undefined && current.check.length === 0)) {
    const first = newRootKeyEntry(1, source ?? { kind: 'vetkd', keyName: undefined });
    saveRootKeyEntries(stores, [first]);
    return;
  }
  if (source === undefined || isOf(current, source)) {
    return;
  }
  throw new Refusal(
    'InvalidArgument',
    'The root key already exists and has another source than the argument names: upgrade without ' +
      'the argument, then call rotateRootKey with it.',
  );
}

function isOf(entry: RootKeyEntry, source: RootKeySource): boolean {
  const isSameName =
    source.kind === 'stored' || (source.keyName ?? entry.keyName) === entry.keyName;
  return source.kind === entry.kind && isSameName;
}

/** Those whose bytes are not at hand and have to be derived, or made when `kind` is "stored". */
export function missingRootKeys(stores: Stores): RootKeyEntry[] {
  return rootKeyEntries(stores).filter((entry) => findRootKey(stores, entry) === undefined);
}

/** Whether every key that anything can be wrapped with is at hand. */
export function areRootKeysAtHand(stores: Stores): boolean {
  const entries = rootKeyEntries(stores);
  const used = entries.filter(({ check }) => check.length > 0);
  return used.length > 0 && used.every((entry) => findRootKey(stores, entry) !== undefined);
}

function findRootKey(stores: Stores, entry: RootKeyEntry): Uint8Array | undefined {
  const key = stores.secrets.rootKeys.get(entry.version);
  if (key !== undefined || entry.slot === 0) {
    return key;
  }
  const slot = stores.keySlots.read(entry.slot);
  return slot?.slice(slotBytes - rootKeyBytes);
}

/**
 * Takes a root key of that version, 32 bytes, which the caller wipes then; `keyName` is the vetKD
 * key's. False, and nothing changed, when it is not the one that was there before.
 */
export function acceptRootKey(
  stores: Stores,
  version: number,
  found: { readonly key: Uint8Array; readonly keyName: string },
): boolean {
  const { key, keyName } = found;
  assert(key.length === rootKeyBytes, 'a root key has 32 bytes');
  const entries = rootKeyEntries(stores);
  const entry = entries.find((candidate) => candidate.version === version);
  const check = hmacSha256(key, encodeUtf8(checkText));
  if (entry === undefined || (entry.check.length > 0 && !bytesEqual(entry.check, check))) {
    return false;
  }
  if (entry.check.length === 0) {
    const slot = entry.kind === 'stored' ? storeRootKey(stores, key) : 0;
    const known = { ...entry, keyName, slot, check };
    saveRootKeyEntries(
      stores,
      entries.map((candidate) => (candidate === entry ? known : candidate)),
    );
  }
  stores.secrets.rootKeys.set(version, key.slice());
  return true;
}

function storeRootKey(stores: Stores, key: Uint8Array): number {
  const head = new Uint8Array(Float64Array.of(Number.MAX_SAFE_INTEGER).buffer);
  const padding = new Uint8Array(slotBytes - head.length - key.length);
  return stores.keySlots.add(concatBytes(head, padding, key));
}

/** Name of the network's vetKD key that is in use; `undefined` with a stored root key. */
export function vetKeyName(stores: Stores): string | undefined {
  const current = rootKeyEntries(stores).findLast(({ check }) => check.length > 0);
  if (current === undefined) throw new KeyUnavailable();
  return current.kind === 'vetkd' ? current.keyName : undefined;
}

export interface RootKey {
  readonly version: number;
  readonly key: Uint8Array;
}

/** The one that new keys are wrapped with: the last that has ever been at hand. */
export function currentRootKey(stores: Stores): RootKey {
  const entries = rootKeyEntries(stores);
  const entry =
    entries.findLast(({ check }) => check.length > 0) ?? present(entries[0], 'root key');
  return { version: entry.version, key: findRootKey(stores, entry) ?? refuseForNow() };
}

export function rootKeyOf(stores: Stores, version: number): RootKey | undefined {
  const entry = rootKeyEntries(stores).find((candidate) => candidate.version === version);
  return entry && { version, key: findRootKey(stores, entry) ?? refuseForNow() };
}

/** Adds a version; the source is that of the present one unless another is named. */
export function startRootRotation(stores: Stores, source: RootKeySource | undefined): void {
  const entries = rootKeyEntries(stores);
  const [current, next] = entries;
  if (current === undefined || current.check.length === 0) {
    throw new KeyUnavailable();
  }
  if (next !== undefined && next.check.length > 0) {
    throw new Refusal(
      'SlowDown',
      'The root key cannot be rotated yet: an earlier rotation is running. Try again in some minutes.',
    );
  }
  // One that never came, for want of such a key on the network, gives way.
  const version = (next ?? current).version + 1;
  saveRootKeyEntries(stores, [current, newRootKeyEntry(version, source ?? current)]);
}

/** A next root key is there, or awaited. */
export function isRootRotating(stores: Stores): boolean {
  return rootKeyEntries(stores).length > 1;
}

/** Forgets all but the current root key, which by now wraps every key. */
export function finishRootRotation(stores: Stores): void {
  const current = currentRootKey(stores).version;
  const entries = rootKeyEntries(stores);
  for (const { version, slot } of entries.filter((entry) => entry.version < current)) {
    stores.secrets.rootKeys.get(version)?.fill(0);
    stores.secrets.rootKeys.delete(version);
    if (slot !== 0) stores.keySlots.erase(slot);
  }
  saveRootKeyEntries(
    stores,
    entries.filter((entry) => entry.version >= current),
  );
}

/** A query answers it by asking for an update, which can wait for the key. */
export class KeyUnavailable extends Refusal {
  constructor() {
    super(
      'ServiceUnavailable',
      'The key that files are encrypted with is being fetched: try again in a few seconds.',
    );
  }
}

function refuseForNow(): never {
  throw new KeyUnavailable();
}
