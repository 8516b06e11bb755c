// The root key, which protects all other keys: its source, its availability and its check. A root
// key derived by the network's vetKD exists only on the heap; a stored one is in an erasable slot.
// The actor requests the derivation.

import { hmacSha256 } from '../../crypto/kdf.ts';
import { assert, present } from '../../lib/assert.ts';
import { bytesEqual, concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { slotBytes } from '../../storage/erasable-slots.ts';
import { Refusal } from '../shared/refusal.ts';
import type { RootKeyEntry } from '../shared/root-key-entry.ts';
import type { Stores } from '../shared/stores.ts';

/**
 * The source of a root key: either the network derives it (vetKD), from its key with that name or,
 * without a name, from the first key that it knows, or the canister stores it. `proxy`: the
 * canister that asks the network, '' for this one; absent: that of the present key, or the default.
 */
export type RootKeySource =
  | {
      readonly kind: 'vetkd';
      readonly keyName: string | undefined;
      readonly proxy?: string | undefined;
    }
  | { readonly kind: 'stored' };

export const rootKeyBytes = 32;

// 0: version 2 | count u8 | for each: version u32, kind u8 (0 vetKD, 1 stored), slot u64,
//    check (length, bytes) | texts: key name of each, proxy of each; in the meta map. The newest is
//    last. Version 1 had no proxies.
const recordVersion = 2;
const directVersion = 1;
const metaKey = 'rootKeys';
const checkText = 'encrypted-file-storage/root-key-check';

/** Returns one entry, or two during a rotation, the newest last; no entry before configuration. */
export function rootKeyEntries(stores: Stores): readonly RootKeyEntry[] {
  // An aborted message rolls heap and stable memory back together.
  stores.heap.rootKeyEntries ??= readRootKeyEntries(stores);
  return stores.heap.rootKeyEntries;
}

function readRootKeyEntries(stores: Stores): RootKeyEntry[] {
  const stored = stores.meta.get(encodeUtf8(metaKey));
  if (stored === undefined) {
    return [];
  }
  const reader = new RecordReader(stored, recordVersion, directVersion);
  const count = reader.u8();
  const heads = Array.from({ length: count }, () => ({
    version: reader.u32(),
    kind: reader.u8() === 0 ? ('vetkd' as const) : ('stored' as const),
    slot: reader.integer(),
    check: reader.bytes(),
  }));
  const names = reader.texts();
  return heads.map((head, index) => {
    const [keyName = '', proxy = ''] = [names[index], names[count + index]];
    return { ...head, keyName, proxy };
  });
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
  const names = entries.map(({ keyName }) => keyName);
  const record = writer.finish([...names, ...entries.map(({ proxy }) => proxy)]);
  stores.meta.set(encodeUtf8(metaKey), record);
  stores.heap.rootKeyEntries = entries;
}

function newRootKeyEntry(
  version: number,
  source: RootKeySource,
  proxyByDefault: string,
): RootKeyEntry {
  const { keyName = '', proxy = proxyByDefault } = source.kind === 'vetkd' ? source : { proxy: '' };
  return { version, kind: source.kind, keyName, proxy, slot: 0, check: emptyBytes };
}

/**
 * Records the source of the root key at install and upgrade. It can change until the first root key
 * exists, then only by rotation. During a rotation, the argument may name either source.
 */
export function configureRootKey(
  stores: Stores,
  source: RootKeySource | undefined,
  proxyByDefault = '',
): void {
  const entries = rootKeyEntries(stores);
  const isUnused = entries.every(({ check }) => check.length === 0);
  const [known] = entries;
  if (known === undefined || (source !== undefined && isUnused)) {
    const first = source ?? { kind: 'vetkd', keyName: undefined };
    saveRootKeyEntries(stores, [newRootKeyEntry(1, first, proxyByDefault)]);
    return;
  }
  if (isUnused && known.kind === 'vetkd' && proxyByDefault !== '') {
    saveRootKeyEntries(stores, [{ ...known, proxy: proxyByDefault }]);
    return;
  }
  if (source === undefined || entries.some((entry) => isOf(entry, source))) {
    return;
  }
  throw new Refusal(
    'InvalidArgument',
    'The root key already exists and has another source than the argument names: upgrade without ' +
      'the argument, then call rotateRootKey with it.',
  );
}

function isOf(entry: RootKeyEntry, source: RootKeySource): boolean {
  if (source.kind === 'stored' || entry.kind === 'stored') return source.kind === entry.kind;
  const { keyName = entry.keyName, proxy = entry.proxy } = source;
  return keyName === entry.keyName && proxy === entry.proxy;
}

/** Returns the root keys that have to be derived, or created if `kind` is "stored". */
export function missingRootKeys(stores: Stores): RootKeyEntry[] {
  return rootKeyEntries(stores).filter((entry) => findRootKey(stores, entry) === undefined);
}

/** Whether every key that may have wrapped something is available. */
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
 * Accepts the 32 bytes of the root key of that version, which the caller wipes afterwards;
 * `keyName` is the name of the vetKD key. Returns false, without a change, if the version is
 * unknown or had another key before.
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

/** How the network derives keys: with its key of that name, asked by the proxy unless it is ''. */
export type VetKeyOrigin = Pick<RootKeyEntry, 'keyName' | 'proxy'>;

/** Returns the origin of the root key in use; `undefined` with a stored root key. */
export function vetKeyOrigin(stores: Stores): VetKeyOrigin | undefined {
  const current = rootKeyEntries(stores).findLast(({ check }) => check.length > 0);
  if (current === undefined) throw new KeyUnavailable();
  return current.kind === 'vetkd' ? current : undefined;
}

/**
 * Stores the first root key in the canister after all, because the network derives none for it.
 * Returns false, without a change, if a vetKD key was named or a root key exists.
 */
export function storeFirstRootKey(stores: Stores): boolean {
  const [first, ...others] = rootKeyEntries(stores);
  const isFirst = first !== undefined && others.length === 0 && first.check.length === 0;
  if (!isFirst || first.keyName !== '') return false;
  saveRootKeyEntries(stores, [{ ...first, kind: 'stored', proxy: '' }]);
  return true;
}

export interface RootKey {
  readonly version: number;
  readonly key: Uint8Array;
}

/** Returns the newest key that is available, of whatever it may have wrapped; often undefined. */
export function availableRootKey(stores: Stores): RootKey | undefined {
  const entries = rootKeyEntries(stores);
  for (let index = entries.length - 1; index >= 0; index--) {
    const entry = entries[index];
    const key = entry && findRootKey(stores, entry);
    if (entry !== undefined && key !== undefined) return { version: entry.version, key };
  }
  return undefined;
}

/** Returns the key that wraps new keys: the newest one that has ever been available. */
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

/**
 * Adds a root key version with the given source or, by default, the present one's.
 * `proxyByDefault`: for a first key from vetKD that names no proxy.
 */
export function startRootRotation(
  stores: Stores,
  source: RootKeySource | undefined,
  proxyByDefault = '',
): void {
  const entries = rootKeyEntries(stores);
  const [current, next] = entries;
  if (current === undefined || current.check.length === 0) {
    throw new KeyUnavailable();
  }
  if (next !== undefined && next.check.length > 0) {
    throw new Refusal(
      'SlowDown',
      'The root key cannot be rotated yet: an earlier rotation is running. Try again in a few minutes.',
    );
  }
  // Replaces a version that never became available because the network lacks its key
  const version = (next ?? current).version + 1;
  const proxy = current.kind === 'vetkd' ? current.proxy : proxyByDefault;
  saveRootKeyEntries(stores, [current, newRootKeyEntry(version, source ?? current, proxy)]);
}

/** Whether a next root key exists or is awaited. */
export function isRootRotating(stores: Stores): boolean {
  return rootKeyEntries(stores).length > 1;
}

/** Whether the next root key has arrived: only then does it wrap the keys of new buckets. */
export function hasNextRootKey(stores: Stores): boolean {
  const [, next] = rootKeyEntries(stores);
  return next !== undefined && next.check.length > 0;
}

/** Removes the root keys before the current one, which by now wraps every key. */
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

/** A query that throws this refusal asks for an update instead, which can wait for the key. */
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
