// Random histories of a forest of labels, compared with a slow reference model.

import { encode } from 'cborg';
import { beforeAll, expect, test } from 'vitest';
import { installUtf8Encoder } from '../../src/lib/text.ts';
import { type LabelPath, type LabelTree, openLabelTree } from '../../src/storage/label-tree.ts';
import {
  getReference,
  labelsOf,
  leafHash,
  newLevel,
  openWitness,
  type ReferenceLevel,
  referenceHash,
  setReference,
  takeReference,
} from '../kernel/label-reference.ts';
import { checkLabelStructure } from '../kernel/label-structure.ts';
import { expectSame } from '../support/expect-same.ts';
import { installNodeKernel, type KernelHost } from '../support/kernel-host.ts';
import { randomNumbers } from '../support/random-numbers.ts';

const space = 5;
const changes = 10_000;
const names = [
  ...['', 'a', 'ab', 'abc', 'abd', 'b', '<*>', '<$>', '<*', '<*>x', '=', 'ä', '日本', 'A', '~'],
  ...['x'.repeat(40), 'x'.repeat(41), 'x'.repeat(88), 'x'.repeat(89), 'x'.repeat(1_100)],
  ...[`${'x'.repeat(216)}é`, 'y'.repeat(471), `${'y'.repeat(472)}`, '\u0001', '\u007f'],
];
const random = randomNumbers(11);

let host: KernelHost;
let trees: readonly [LabelTree, LabelTree];
let references: readonly [ReferenceLevel, ReferenceLevel];
/** Paths of recent writes; most operations use them or neighbours of them. */
let known: LabelPath[] = [];

beforeAll(async () => {
  installUtf8Encoder((text) => new TextEncoder().encode(text));
  host = await installNodeKernel();
  trees = [openLabelTree(space, 0), openLabelTree(space, 1)];
  references = [newLevel(), newLevel()];
});

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const pick = <Item>(items: readonly Item[], otherwise: Item): Item =>
  items[random(items.length || 1)] ?? otherwise;

function hashLabel(): Uint8Array {
  return leafHash(Uint8Array.of(random(40)));
}

function makePath(): LabelPath {
  const texts = Array.from({ length: 1 + random(5) }, () =>
    random(3) === 0 ? `name-${random(60)}` : pick(names, 'a'),
  );
  const hashes = Array.from({ length: Math.max(0, random(5) - 2) }, hashLabel);
  return hashes.length === 0 ? { text: texts.join('\0') } : { text: texts.join('\0'), hashes };
}

function somePath(): LabelPath {
  const path = pick(known, makePath());
  if (random(4) > 0) return path;
  const texts = path.text.split('\0');
  return random(2) === 0
    ? { text: texts.slice(0, 1 + random(texts.length)).join('\0') }
    : { text: [...texts, pick(names, 'a')].join('\0') };
}

/** Values of opaque subtrees by hash: each subtree is a leaf. */
const values = new Map<string, string>();

function opaque(): Uint8Array {
  const value = `value ${random(1_000_000)}`;
  const hash = leafHash(Buffer.from(value));
  values.set(hex(hash), value);
  return hash;
}

function subtreeOf(hash: Uint8Array): { readonly value: string; readonly subtree: Uint8Array } {
  const value = values.get(hex(hash)) ?? expect.fail('this opaque hash was never set');
  return { value, subtree: encode([3, Buffer.from(value)]) };
}

function putLeaves(root: 0 | 1, path: LabelPath): void {
  const level = newLevel();
  const entries: Uint8Array[] = [];
  for (let count = 1 + random(30); count > 0; count--) {
    const label = leafHash(Uint8Array.of(random(256), count));
    const hash = opaque();
    level.set(Buffer.from(label).toString('latin1'), hash);
    entries.splice(random(entries.length + 1), 0, Buffer.concat([label, hash]));
  }
  trees[root].setLeaves(path, Buffer.concat(entries));
  setReference(references[root], path, level);
}

function change(turn: number): void {
  const root = random(3) === 0 ? 1 : 0;
  const isShrinking = Math.floor(turn / 1_500) % 2 === 1;
  const kind = random(isShrinking ? 24 : 12);
  if (kind < 6) {
    const path = random(3) === 0 ? somePath() : makePath();
    const hash = opaque();
    trees[root].set(path, hash);
    setReference(references[root], path, hash);
    known.push(path);
  } else if (kind === 6) {
    const path = somePath();
    putLeaves(root, path);
    known.push(path);
  } else if (kind < 9) {
    const [from, to] = [somePath(), random(3) === 0 ? makePath() : somePath()];
    const other = random(2) === 0 ? 0 : 1;
    const taken = takeReference(references[root], from);
    const isMoved = trees[root].move(from, { tree: trees[other], path: to });
    expectSame(isMoved, taken !== undefined);
    if (taken !== undefined) setReference(references[other], to, taken);
    known.push(to);
  } else {
    const path = somePath();
    expectSame(trees[root].remove(path), takeReference(references[root], path) !== undefined);
  }
  if (known.length > 300) known = known.slice(-200);
}

function checkQuestions(root: 0 | 1): void {
  const path = random(3) === 0 ? makePath() : somePath();
  const [tree, reference] = [trees[root], references[root]];
  const there = getReference(reference, path);
  expect(tree.has(path)).toBe(there !== undefined);
  const depth = referenceWildcardDepth(reference, path);
  expect(tree.wildcardDepth(path)).toBe(depth);
  if (there instanceof Uint8Array) {
    const { value, subtree } = subtreeOf(there);
    const witness = openWitness(tree.witness(path, subtree), tree.hash());
    expect(witness.see(labelsOf(path))).toBe(`leaf:${value}`);
  } else {
    expect(tree.witness(path, encode([0]))).toBeUndefined();
  }
  checkFallback({ tree, reference, path, depth, isThere: there !== undefined });
}

interface FallbackCheck {
  readonly tree: LabelTree;
  readonly reference: ReferenceLevel;
  readonly path: LabelPath;
  readonly depth: number | undefined;
  readonly isThere: boolean;
}

let fallbacks = 0;
let besides = 0;

function checkFallback({ tree, reference, path, depth, isThere }: FallbackCheck): void {
  if (depth === undefined) {
    expect(tree.fallbackWitness(path, { depth: 0, subtree: encode([0]) })).toBeUndefined();
    return;
  }
  const labels = labelsOf(path);
  const wildcard = [...labels.slice(0, depth), '<*>'];
  const below = getByLabels(reference, wildcard);
  const isUnderOpaque = reachesOpaque(reference, labels);
  if (!(below instanceof Uint8Array) || isThere || isUnderOpaque) {
    const answer = tree.fallbackWitness(path, { depth, subtree: encode([0]) });
    // A path through the label `<*>` itself has a proof
    if (labels[depth] !== '<*>' || isThere) expect(answer).toBeUndefined();
    return;
  }
  const { value, subtree } = subtreeOf(below);
  const found = tree.fallbackWitness(path, { depth, subtree });
  // Wildcards that verifiers look for below an empty label beside the path
  const beside = labels.flatMap((label, end) => {
    const empty = [...labels.slice(0, end), ''];
    const isLevel = end >= depth && label !== '' && getByLabels(reference, empty) instanceof Map;
    return isLevel ? [[...empty, '<*>']] : [];
  });
  if (beside.some((nearer) => getByLabels(reference, nearer) !== undefined)) {
    expect(found).toBeUndefined();
    return;
  }
  const witness = openWitness(found, tree.hash());
  for (const nearer of beside) {
    expectSame(witness.see(nearer), 'absent');
    besides++;
  }
  expect(witness.see(wildcard)).toBe(`leaf:${value}`);
  expect(witness.see(labels)).toBe('absent');
  for (let length = depth + 1; length < labels.length; length++) {
    expectSame(witness.see([...labels.slice(0, length), '<*>']), 'absent');
  }
  fallbacks++;
}

function getByLabels(
  reference: ReferenceLevel,
  labels: readonly string[],
): ReferenceLevel | Uint8Array | undefined {
  let node: ReferenceLevel | Uint8Array | undefined = reference;
  for (const label of labels) node = node instanceof Map ? node.get(label) : undefined;
  return node;
}

function reachesOpaque(reference: ReferenceLevel, labels: readonly string[]): boolean {
  return labels.some(
    (_, end) => getByLabels(reference, labels.slice(0, end)) instanceof Uint8Array,
  );
}

function referenceWildcardDepth(reference: ReferenceLevel, path: LabelPath): number | undefined {
  const labels = labelsOf(path);
  for (let depth = labels.length - 1; depth >= 0; depth--) {
    if (getByLabels(reference, [...labels.slice(0, depth), '<*>']) !== undefined) return depth;
  }
  return undefined;
}

test('openLabelTree(): trees of labels behave as nested maps under 10,000 changes with upgrades', async () => {
  for (let turn = 0; turn < changes; turn++) {
    change(turn);
    if (turn % 8 === 0) checkQuestions(random(3) === 0 ? 1 : 0);
    if (turn % 100 === 0) {
      for (const root of [0, 1] as const) {
        expect(hex(trees[root].hash()), `turn ${turn}`).toBe(hex(referenceHash(references[root])));
      }
    }
    if (turn % 500 === 499) {
      host = await installNodeKernel({ system: host.system });
      checkLabelStructure(space);
    }
  }
  expect(fallbacks).toBeGreaterThan(50);
  expect(besides).toBeGreaterThan(5);
  for (const root of [0, 1] as const) {
    for (const label of [...references[root].keys()]) {
      trees[root].remove({ text: Buffer.from(label, 'latin1').toString() });
    }
    expect(hex(trees[root].hash())).toBe(hex(referenceHash(newLevel())));
  }
  const { nodes, freeSlots } = checkLabelStructure(space);
  expect(nodes).toBe(0);
  expect(freeSlots).toBeGreaterThan(100);
});
