// The rules of a bucket shorten the time for which its former versions are stored. A version gets
// its expiry when it becomes one. After a change of rules, a walk sets the expiry of the existing
// versions again, from a cursor in the directory:
//
//   32 | bucket id | 0 | path | 0 | version, decimal, of the last one -> 0
//
// Other changes, such as an erased version, can make a version expire later than noted; so an
// expiry that rules have set is determined again before the version is erased.

import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { ruledVersionsPerMessage } from '../../limits.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import { applies, findRules, type Rule, strictest, versionRules } from '../buckets/rules.ts';
import { unlessRefused } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import type { FileRecord } from './file-fields.ts';
import { decodeFile } from './file-layout.ts';
import {
  changeExpiry,
  countLater,
  type Expiry,
  findExpiry,
  noteVersion,
  storedVersion,
  type VersionName,
  versionBefore,
  versionExpiryNs,
  versionNames,
} from './version-entries.ts';

const walkKind = 32;
const nsPerDay = 86_400_000_000_000n;

/** Notes the expiry of a new former version, and expires those that it makes too many. */
export function noteByRules(
  stores: Stores,
  file: FileRecord,
  { nowNs, ownNs }: { readonly nowNs: bigint; readonly ownNs: bigint },
): void {
  const rules = rulesOfPath(stores, file);
  const applied = rules.filter((rule) => applies(rule, file));
  noteVersion(stores, file, { atNs: earlier(ownNs, endOfAge(applied, nowNs)), ownNs });
  for (const count of new Set(rules.map(({ keepVersions }) => keepVersions))) {
    const excess = count === undefined ? undefined : versionBefore(stores, file, count);
    if (excess === undefined) continue;
    const limiting = rules.filter(({ keepVersions }) => keepVersions === count);
    const mayApply = limiting.some(({ tag }) => tag === undefined);
    const byRules = mayApply ? nowNs : expiryByRules(stores, limiting, excess);
    if (byRules !== undefined && byRules <= nowNs) expireAt(stores, excess, nowNs);
  }
}

function rulesOfPath(stores: Stores, { bucketId, path }: Omit<VersionName, 'version'>): Rule[] {
  return versionRules(findRules(stores, bucketId)).filter(({ prefix }) => path.startsWith(prefix));
}

function endOfAge(rules: readonly Rule[], retiredAtNs: bigint): bigint | undefined {
  const days = strictest(rules, 'eraseVersionsAfterDays');
  return days === undefined ? undefined : retiredAtNs + BigInt(days) * nsPerDay;
}

function earlier(one: bigint, other: bigint | undefined): bigint {
  return other !== undefined && other < one ? other : one;
}

/**
 * Returns when rules end the version; undefined for never. For one too many, it is the time at
 * which it became a version: then it is erased before later ones, which make it one too many.
 */
function expiryByRules(
  stores: Stores,
  rules: readonly Rule[],
  name: VersionName,
): bigint | undefined {
  const stored = rules.length === 0 ? undefined : storedVersion(stores, name);
  if (stored === undefined) return undefined;
  // Only rules with a tag need the file's fields
  const file = rules.some(({ tag }) => tag !== undefined)
    ? unlessRefused(() => decodeFile(name.bucketId, name.path, stored.record))
    : undefined;
  const ruled = { path: name.path, tags: file?.tags ?? [] };
  const applied = rules.filter((rule) => applies(rule, ruled));
  const count = strictest(applied, 'keepVersions');
  if (count !== undefined && countLater(stores, name) >= count) return stored.retiredAtNs;
  return endOfAge(applied, stored.retiredAtNs);
}

/** Makes the version expire then, unless it expires earlier. */
function expireAt(stores: Stores, name: VersionName, toNs: bigint): void {
  const fromNs = versionExpiryNs(stores, name);
  if (fromNs !== undefined && fromNs > toNs) changeExpiry(stores, name, { fromNs, toNs });
}

/**
 * Whether a version whose expiry has come is to be erased. If rules have set the expiry and no
 * longer do, it gets a later one.
 */
export function isStillDue(stores: Stores, name: VersionName, nowNs: bigint): boolean {
  const expiry = findExpiry(stores, name);
  if (expiry === undefined || expiry.ownNs <= nowNs) return true;
  return settledExpiry(stores, { name, expiry, nowNs }) <= nowNs;
}

interface Settled {
  readonly name: VersionName;
  readonly expiry: Expiry;
  readonly nowNs: bigint;
}

/** Sets the expiry by the present rules, and returns it. */
function settledExpiry(stores: Stores, { name, expiry, nowNs }: Settled): bigint {
  const byRules = expiryByRules(stores, rulesOfPath(stores, name), name);
  const atNs = earlier(expiry.ownNs, byRules);
  // A version that is too many keeps the time at which it became so
  const isSame = atNs === expiry.atNs || (atNs <= nowNs && expiry.atNs <= nowNs);
  if (!isSame) changeExpiry(stores, name, { fromNs: expiry.atNs, toNs: atNs });
  return isSame ? expiry.atNs : atNs;
}

function walkScope(bucketId: string): Uint8Array {
  return concatBytes(Uint8Array.of(walkKind), encodeUtf8(`${bucketId}\0`));
}

/** Returns the key of the walk's cursor; undefined without a walk. */
function walkKey({ directory }: Stores, bucketId: string): Uint8Array | undefined {
  return entriesUnder(directory, { scope: walkScope(bucketId), limit: 1 })[0]?.key;
}

export function isWalking(stores: Stores, bucketId: string): boolean {
  return walkKey(stores, bucketId) !== undefined;
}

/** Begins the walk at the bucket's first former version, also if an earlier walk is running. */
export function startVersionWalk(stores: Stores, bucketId: string): void {
  endVersionWalk(stores, bucketId);
  stores.directory.insert(walkScope(bucketId), 0n);
}

export function endVersionWalk(stores: Stores, bucketId: string): void {
  const key = walkKey(stores, bucketId);
  if (key !== undefined) stores.directory.remove(key);
}

/** Sets the expiry of the next versions of a bucket with a walk, in one bounded step. */
export function walkVersions(stores: Stores, bucketId: string, nowNs: bigint): void {
  const scope = walkScope(bucketId);
  const key = walkKey(stores, bucketId) ?? scope;
  const [path = '', version = ''] = (decodeUtf8(key.subarray(scope.length)) ?? '').split('\0');
  const after = version === '' ? undefined : { bucketId, path, version: Number(version) };
  const names = versionNames(stores, { bucketId, after }, ruledVersionsPerMessage);
  for (const name of names) {
    const expiry = findExpiry(stores, name);
    if (expiry !== undefined) settledExpiry(stores, { name, expiry, nowNs });
  }
  endVersionWalk(stores, bucketId);
  const last = names.at(-1);
  if (last === undefined || names.length < ruledVersionsPerMessage) return;
  stores.directory.insert(concatBytes(scope, encodeUtf8(`${last.path}\0${last.version}`)), 0n);
}
