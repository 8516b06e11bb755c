// A slow reference model of a label tree: nested maps, hashed from scratch each time. Two verifiers
// check its witnesses: the specification's look-up, implemented here, and the replica's. (The agent
// library orders a longer label after a shorter one, so it cannot check absence.)

import { createHash } from 'node:crypto';
import { decode } from 'cborg';
import { fromArrays, lookup } from '../../packages/replica/src/state/hash-tree.ts';
import type { LabelPath } from '../../src/storage/label-tree.ts';
import { expectSame, expectSameBytes } from '../support/expect-same.ts';

/** Labels are strings with one character per byte; a subtree is a level or an opaque hash. */
export interface ReferenceLevel extends Map<string, ReferenceLevel | Uint8Array> {}

export function newLevel(): ReferenceLevel {
  return new Map();
}

export function labelsOf({ text, hashes = [] }: LabelPath): string[] {
  const texts = Buffer.from(text).toString('latin1').split('\0');
  return [...texts, ...hashes.map((hash) => Buffer.from(hash).toString('latin1'))];
}

export function getReference(
  level: ReferenceLevel,
  path: LabelPath,
): ReferenceLevel | Uint8Array | undefined {
  let node: ReferenceLevel | Uint8Array | undefined = level;
  for (const label of labelsOf(path)) node = node instanceof Map ? node.get(label) : undefined;
  return node;
}

export function setReference(
  level: ReferenceLevel,
  path: LabelPath,
  value: ReferenceLevel | Uint8Array,
): void {
  const labels = labelsOf(path);
  let parent = level;
  for (const label of labels.slice(0, -1)) {
    const next = parent.get(label);
    const below = next instanceof Map ? next : newLevel();
    parent.set(label, below);
    parent = below;
  }
  parent.set(labels.at(-1) ?? '', value);
}

/** Removes and returns the value at the path; removes labels that become empty. */
export function takeReference(
  level: ReferenceLevel,
  path: LabelPath,
): ReferenceLevel | Uint8Array | undefined {
  const taken = getReference(level, path);
  if (taken !== undefined) takeLabels(level, labelsOf(path));
  return taken;
}

function takeLabels(level: ReferenceLevel, [label = '', ...rest]: readonly string[]): void {
  const below = level.get(label);
  if (rest.length > 0 && below instanceof Map) {
    takeLabels(below, rest);
    if (below.size > 0) return;
  }
  level.delete(label);
}

function domainHash(domain: string, ...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256').update(Uint8Array.of(domain.length)).update(domain);
  for (const part of parts) hash.update(part);
  return hash.digest();
}

export function leafHash(value: Uint8Array): Buffer {
  return domainHash('ic-hashtree-leaf', value);
}

const byteBits = Array.from({ length: 256 }, (_, byte) => `1${byte.toString(2).padStart(8, '0')}`);
const labelBits = new Map<string, string>();

/** Returns bits that sort like the labels: a 1 before each byte, and a 0 at the end. */
function bitsOf(label: string): string {
  const known = labelBits.get(label);
  if (known !== undefined) return known;
  const bits = `${[...Buffer.from(label, 'latin1')].map((byte) => byteBits[byte]).join('')}0`;
  labelBits.set(label, bits);
  return bits;
}

export function referenceHash(level: ReferenceLevel): Buffer {
  if (level.size === 0) return domainHash('ic-hashtree-empty');
  const entries = [...level].map(([label, below]) => {
    const hash = below instanceof Map ? referenceHash(below) : below;
    const labeled = domainHash('ic-hashtree-labeled', Buffer.from(label, 'latin1'), hash);
    return { bits: bitsOf(label), hash: labeled };
  });
  return trieHash(entries.sort((a, b) => (a.bits < b.bits ? -1 : 1)));
}

interface TrieEntry {
  readonly bits: string;
  readonly hash: Buffer;
}

function trieHash(entries: readonly TrieEntry[]): Buffer {
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) throw new Error('an empty trie has no hash');
  if (entries.length === 1) return first.hash;
  let bit = 0;
  while (first.bits[bit] === last.bits[bit]) bit++;
  const right = entries.findIndex(({ bits }) => bits[bit] === '1');
  const parts = [trieHash(entries.slice(0, right)), trieHash(entries.slice(right))];
  return domainHash('ic-hashtree-fork', ...parts);
}

/** A witness as both verifiers see it. */
export interface Witness {
  /** Returns `leaf:` with the leaf's text, or the status of the lookup. */
  see(labels: readonly string[]): string;
}

/** Checks the tag and that the tree has this root. */
export function openWitness(bytes: Uint8Array | undefined, root: Uint8Array): Witness {
  if (bytes === undefined) throw new Error('there is no witness');
  expectSame(Buffer.from(bytes.subarray(0, 3)).toString('hex'), 'd9d9f7');
  const arrays = decode(bytes.subarray(3));
  const tree = fromArrays(arrays);
  expectSameBytes(tree.hash, root);
  return {
    see(labels) {
      const path = labels.map((label) => new Uint8Array(Buffer.from(label, 'latin1')));
      const found = lookup(tree, path);
      expectSame(specifiedLookup(arrays as TreeArrays, labels), found.status);
      if (found.status !== 'found' || found.subtree.kind !== 'leaf') return found.status;
      return `leaf:${Buffer.from(found.subtree.value).toString()}`;
    },
  };
}

type TreeArrays =
  | readonly [0]
  | readonly [1, TreeArrays, TreeArrays]
  | readonly [2, Uint8Array, TreeArrays]
  | readonly [3 | 4, Uint8Array];

/** IC spec, "Lookup": compares neighbouring labels in the flattened tree. */
function specifiedLookup(tree: TreeArrays, [label, ...rest]: readonly string[]): string {
  if (label === undefined) {
    if (tree[0] === 4) return 'unknown';
    return tree[0] === 0 ? 'absent' : 'found';
  }
  const row = flatten(tree);
  const names = row.map((node) =>
    node[0] === 2 ? Buffer.from(node[1]).toString('latin1') : undefined,
  );
  const at = names.indexOf(label);
  const found = row[at];
  if (found?.[0] === 2) return specifiedLookup(found[2], rest);
  if (row.length === 0 || (row.length === 1 && row[0]?.[0] === 3)) return 'absent';
  const [first, last] = [names[0], names.at(-1)];
  const isBetween = names.some((name, index) => {
    const next = names[index + 1];
    return name !== undefined && next !== undefined && name < label && label < next;
  });
  const isBefore = first !== undefined && label < first;
  const isBehind = last !== undefined && last < label;
  return isBetween || isBefore || isBehind ? 'absent' : 'unknown';
}

function flatten(tree: TreeArrays): readonly TreeArrays[] {
  if (tree[0] === 1) return [...flatten(tree[1]), ...flatten(tree[2])];
  return tree[0] === 0 ? [] : [tree];
}
