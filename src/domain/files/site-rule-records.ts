// The rules of a site in stable memory, so that a request finds its rule by one look-up, and a file
// the rules that serve it. In `records`, 5 | bucket id | NUL |
//
//   place                   version 1 | computed u8 | status u16 | bytes of the proof u16 | proof
//                           | target
//   'l'                     version 1 | texts: from, status and target of each rule, in order
//   'd'                     version 1 | bit n u32: some rule covers all below n segments
//
// and in the directory 50 | bucket id | NUL | path of the target | NUL | place    -> 0
//
// place: 'e' and a path, or 'w' and the prefix of a wildcard. The target's path is '' if it is no
// file.

import { present } from '../../lib/assert.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { RecordReader, RecordWriter, requireVersion } from '../../storage/codec.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import type { Stores } from '../shared/stores.ts';
import {
  computedPrefix,
  isComputed,
  isRedirect,
  rulePlacesMax,
  type SiteRule,
  wildcardPrefix,
} from './site-rules.ts';

/** The kinds as the first characters of keys: below 128, so UTF-8 encodes each as its one byte. */
const recordKind = String.fromCharCode(5);
const directoryKind = String.fromCharCode(50);
const version = 1;
const textsPerRule = 3;

/** The paths of one entry: a path, with or without a final slash, or all below a prefix. */
export interface RulePlace {
  /** Without a final slash; '/' or the prefix '' is the whole site. */
  readonly path: string;
  readonly isWildcard: boolean;
}

/** The rule at a place; `isComputed`: it depends on the path which rule applies. */
export interface PlacedRule extends Pick<SiteRule, 'status' | 'to'> {
  readonly isComputed: boolean;
  /** The shown part of a proof of its redirect; empty for other answers. */
  readonly proof: Uint8Array;
}

function textOf({ path, isWildcard }: RulePlace): string {
  return `${isWildcard ? 'w' : 'e'}${path}`;
}

function recordKey(bucketId: string, text: string): Uint8Array {
  return encodeUtf8(`${recordKind}${bucketId}\0${text}`);
}

function directoryKey(bucketId: string, text: string): Uint8Array {
  return encodeUtf8(`${directoryKind}${bucketId}\0${text}`);
}

/**
 * Replaces all rules of the bucket; returns the places of the former ones and the new ones.
 * `proofOf`: returns the proof of a rule.
 */
export function saveRules(
  stores: Stores,
  bucketId: string,
  rules: readonly SiteRule[],
  proofOf: (rule: PlacedRule) => Uint8Array,
): readonly RulePlace[] {
  const { records, directory } = stores;
  const places = new Map<string, RulePlace>();
  for (const { key, text } of placesUnder(stores, directoryKey(bucketId, ''))) {
    const name = text.slice(text.indexOf('\0') + 1);
    places.set(name, placeOf(name));
    directory.remove(key);
    records.delete(recordKey(bucketId, name));
  }
  let depths = 0;
  for (const [place, rule] of placedRules(rules)) {
    const text = textOf(place);
    places.set(text, place);
    const hasFile = !rule.isComputed && !isRedirect(rule);
    directory.insert(directoryKey(bucketId, `${hasFile ? rule.to : ''}\0${text}`), 0n);
    records.set(recordKey(bucketId, text), encodeRule({ ...rule, proof: proofOf(rule) }));
    if (place.isWildcard) depths |= 1 << depthOf(place.path);
  }
  saveList(stores, bucketId, { rules, depths });
  return [...places.values()];
}

function saveList(
  { records }: Stores,
  bucketId: string,
  { rules, depths }: { readonly rules: readonly SiteRule[]; readonly depths: number },
): void {
  const [list, mask] = [recordKey(bucketId, 'l'), recordKey(bucketId, 'd')];
  if (rules.length === 0) {
    records.delete(list);
    records.delete(mask);
    return;
  }
  const texts = rules.flatMap(({ from, status, to }) => [from, `${status}`, to]);
  records.set(list, new RecordWriter(version).finish(texts));
  records.set(mask, new RecordWriter(version).u32(depths).finish([]));
}

/** Returns the number of segments of a prefix. */
function depthOf(prefix: string): number {
  return prefix.split('/').length - 1;
}

/** Returns the entries of the rules, none of which another rule covers. */
function placedRules(rules: readonly SiteRule[]): [RulePlace, PlacedRule][] {
  const computed: string[] = [];
  const placed = new Map<string, [RulePlace, PlacedRule]>();
  for (const rule of rules) {
    const isOwn = isComputed(rule);
    const prefix = isOwn ? computedPrefix(rule) : wildcardPrefix(rule.from);
    const place = { path: prefix ?? rule.from, isWildcard: prefix !== undefined };
    // An earlier computed rule may apply to some paths below the prefix
    const mayBeOther = prefix !== undefined && computed.some((each) => isBelow(prefix, each));
    if (isOwn) computed.push(place.path);
    const isUpdate = isOwn || mayBeOther;
    // The wildcard of the computed rule answers for an exact rule below it
    if (prefix === undefined && computed.some((each) => isBelow(place.path, each))) continue;
    placed.set(textOf(place), [place, { ...rule, isComputed: isUpdate, proof: emptyBytes }]);
  }
  return [...placed.values()];
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** Returns the places whose keys in the directory begin with the scope. */
function placesUnder({ directory }: Stores, scope: Uint8Array) {
  return entriesUnder(directory, { scope, limit: rulePlacesMax }).map(({ key }) => {
    return { key, text: decodeUtf8(key.subarray(scope.length)) ?? '' };
  });
}

function placeOf(text: string): RulePlace {
  return { path: text.slice(1), isWildcard: text.startsWith('w') };
}

/** Returns the places whose rules serve the file. */
export function placesOfTarget(stores: Stores, bucketId: string, path: string): RulePlace[] {
  if (!stores.records.has(recordKey(bucketId, 'd'))) return [];
  const scope = directoryKey(bucketId, `${path}\0`);
  return placesUnder(stores, scope).map(({ text }) => placeOf(text));
}

export function findRule(
  stores: Stores,
  bucketId: string,
  place: RulePlace,
): PlacedRule | undefined {
  const stored = stores.records.get(recordKey(bucketId, textOf(place)));
  return stored && decodeRule(stored);
}

function encodeRule({ isComputed, status, to, proof }: PlacedRule): Uint8Array {
  const [low, high] = [status & 0xff, status >> 8];
  const head = [version, isComputed ? 1 : 0, low, high, proof.length & 0xff, proof.length >> 8];
  return concatBytes(Uint8Array.from(head), proof, encodeUtf8(to));
}

const ruleHeadBytes = 6;

/** Byte by byte: a reader with a DataView takes three times as long. */
function decodeRule(bytes: Uint8Array): PlacedRule {
  requireVersion(bytes, version);
  const proofEnd = ruleHeadBytes + (bytes[4] ?? 0) + 0x100 * (bytes[5] ?? 0);
  return {
    isComputed: bytes[1] === 1,
    status: (bytes[2] ?? 0) + 0x100 * (bytes[3] ?? 0),
    to: present(decodeUtf8(bytes.subarray(proofEnd)), 'target of a rule'),
    proof: bytes.subarray(ruleHeadBytes, proofEnd),
  };
}

/** Returns the wildcard rules that cover the path, which begins with a slash, the longest first. */
export function rulesAbove(stores: Stores, bucketId: string, path: string): PlacedRule[] {
  const stored = stores.records.get(recordKey(bucketId, 'd'));
  if (stored === undefined) return [];
  const depths = new RecordReader(stored, version).u32();
  const rules: PlacedRule[] = [];
  const segments = path.split('/', 32);
  // The address of the bucket itself is one empty segment
  if (segments.length > 1 && segments.at(-1) === '') segments.pop();
  for (let depth = Math.min(segments.length, 31) - 1; depth >= 0; depth--) {
    if ((depths & (1 << depth)) === 0) continue;
    const prefix = segments.slice(0, depth + 1).join('/');
    const rule = findRule(stores, bucketId, { path: prefix, isWildcard: true });
    if (rule !== undefined) rules.push(rule);
  }
  return rules;
}

/** Returns all rules in order. */
export function allRules(stores: Stores, bucketId: string): SiteRule[] {
  const stored = stores.records.get(recordKey(bucketId, 'l'));
  if (stored === undefined) return [];
  const texts = new RecordReader(stored, version).texts();
  const rules: SiteRule[] = [];
  for (let at = 0; at < texts.length; at += textsPerRule) {
    const [from = '', status, to = ''] = texts.slice(at, at + textsPerRule);
    rules.push({ from, status: Number(status), to });
  }
  return rules;
}
