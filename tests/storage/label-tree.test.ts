import { createHash } from 'node:crypto';
import { encode } from 'cborg';
import { beforeEach, describe, expect, test } from 'vitest';
import { kernelCall } from '../../src/crypto/kernel.ts';
import { installUtf8Encoder } from '../../src/lib/text.ts';
import { type LabelPath, type LabelTree, openLabelTree } from '../../src/storage/label-tree.ts';
import { spaceRead, spaceSize } from '../../src/storage/stable-space.ts';
import {
  labelsOf,
  leafHash,
  newLevel,
  openWitness,
  referenceHash,
  setReference,
} from '../kernel/label-reference.ts';
import { checkLabelStructure } from '../kernel/label-structure.ts';
import { installNodeKernel, type KernelHost } from '../support/kernel-host.ts';
import { randomNumbers } from '../support/random-numbers.ts';

let host: KernelHost;
let tree: LabelTree;
let shelf: LabelTree;

beforeEach(async () => {
  installUtf8Encoder((text) => new TextEncoder().encode(text));
  host = await installNodeKernel();
  tree = openLabelTree(5, 0);
  shelf = openLabelTree(5, 1);
});

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const path = (text: string): LabelPath => ({ text: text.replaceAll('/', '\0') });
const value = Buffer.from('value');
const subtree = encode([3, value]);
const hash = leafHash(value);

describe('openLabelTree(): a label tree', () => {
  test('is empty at first, and reading writes nothing', () => {
    const emptyHash = hex(referenceHash(newLevel()));
    expect(hex(tree.hash())).toBe(emptyHash);
    expect(tree.has(path('a'))).toBe(false);
    expect(tree.remove(path('a'))).toBe(false);
    expect(tree.move(path('a'), { tree: shelf, path: path('b') })).toBe(false);
    expect(tree.witness(path('a'), subtree)).toBeUndefined();
    expect(tree.wildcardDepth(path('a'))).toBeUndefined();
    expect(tree.fallbackWitness(path('a'), { depth: 0, subtree })).toBeUndefined();
    expect(spaceSize(5)).toBe(0);
    expect(host.system.stable.length).toBe(0);
  });

  test('has the same root for any order of insertion', async () => {
    const reference = newLevel();
    const paths = Array.from({ length: 500 }, (_, at) =>
      path(`http_expr/${'d/'.repeat(at % 4)}${at % 50}${'x'.repeat(at % 7)}/<$>`),
    );
    for (const each of paths) setReference(reference, each, hash);
    const expected = hex(referenceHash(reference));
    const random = randomNumbers(3);
    for (let round = 0; round < 3; round++) {
      await installNodeKernel();
      for (const each of [...paths].sort(() => random(3) - 1)) tree.set(each, hash);
      expect(hex(tree.hash())).toBe(expected);
    }
  });

  test('keeps its two trees separate, and a moved label keeps its hash', () => {
    tree.setLeaves(path('a/b'), Buffer.concat([leafHash(value), hash]));
    tree.set(path('a/c'), hash);
    const before = hex(tree.hash());
    expect(tree.move(path('a/b'), { tree: shelf, path: path('deep/on/the/shelf') })).toBe(true);
    expect(tree.has(path('a/b'))).toBe(false);
    expect(shelf.has({ ...path('deep/on/the/shelf'), hashes: [leafHash(value)] })).toBe(true);
    expect(hex(tree.hash())).not.toBe(before);
    expect(shelf.move(path('deep/on/the/shelf'), { tree, path: path('a/b') })).toBe(true);
    expect(hex(tree.hash())).toBe(before);
    expect(hex(shelf.hash())).toBe(hex(referenceHash(newLevel())));
  });

  test('stores, proves and removes paths of 600 labels and labels of 1,100 bytes', () => {
    const labels = Array.from({ length: 600 }, (_, at) => `l${at % 9}`);
    const deep = { text: labels.join('\0'), hashes: [leafHash(value)] };
    const long = path(`${'é'.repeat(550)}/x`);
    const reference = newLevel();
    for (const each of [deep, long]) {
      tree.set(each, hash);
      setReference(reference, each, hash);
    }
    tree.set(path('<*>'), hash);
    setReference(reference, path('<*>'), hash);
    expect(hex(tree.hash())).toBe(hex(referenceHash(reference)));
    for (const each of [deep, long]) {
      const witness = openWitness(tree.witness(each, subtree), tree.hash());
      expect(witness.see(labelsOf(each))).toBe('leaf:value');
    }
    const beside = { text: [...labels.slice(0, 599), 'other', '<$>'].join('\0') };
    expect(tree.wildcardDepth(beside)).toBe(0);
    const proof = openWitness(tree.fallbackWitness(beside, { depth: 0, subtree }), tree.hash());
    expect(proof.see(labelsOf(beside))).toBe('absent');
    for (const label of ['l0', long.text.split('\0')[0] ?? '', '<*>']) {
      expect(tree.remove({ text: label })).toBe(true);
    }
    expect(checkLabelStructure(5).nodes).toBe(0);
  });

  test('accepts labels that are prefixes of each other to the full depth of a trie', () => {
    const reference = newLevel();
    for (let length = 0; length <= 1_100; length++) {
      tree.set({ text: 'p'.repeat(length) }, hash);
      setReference(reference, { text: 'p'.repeat(length) }, hash);
    }
    expect(hex(tree.hash())).toBe(hex(referenceHash(reference)));
    const last = { text: 'p'.repeat(1_100) };
    expect(openWitness(tree.witness(last, subtree), tree.hash()).see([last.text])).toBe(
      'leaf:value',
    );
    for (let length = 0; length <= 1_100; length++) tree.remove({ text: 'p'.repeat(length) });
    expect(checkLabelStructure(5).nodes).toBe(0);
  });

  test('answers look-ups of any length, and refuses insertions that do not fit', () => {
    tree.set(path('a/<$>'), hash);
    tree.set(path('<*>'), hash);
    for (const text of ['x'.repeat(20_000), 'a\0'.repeat(3_000), `a\0${'x'.repeat(5_000)}`]) {
      expect(tree.has({ text })).toBe(false);
      expect(tree.remove({ text })).toBe(false);
      expect(tree.wildcardDepth({ text })).toBe(0);
      const proof = openWitness(tree.fallbackWitness({ text }, { depth: 0, subtree }), tree.hash());
      expect(proof.see(text.split('\0'))).toBe('absent');
      expect(() => tree.set({ text }, hash)).toThrow('unreachable');
    }
    expect(() => tree.set({ text: 'x'.repeat(1_101) }, hash)).toThrow('unreachable');
    expect(() => tree.set({ text: '\0'.repeat(1_000) }, hash)).toThrow('unreachable');
  });

  test('does not reach labels that moves have put deeper than 1,024 labels', () => {
    const [half, whole] = ['x/'.repeat(599), 'x/'.repeat(1_198)].map((text) => path(`${text}x`));
    if (half === undefined || whole === undefined) throw new Error('two paths');
    shelf.set(half, hash);
    expect(shelf.move(path('x'), { tree, path: half })).toBe(true);
    expect(tree.has(path(`${'x/'.repeat(1_000)}x`))).toBe(true);
    expect([tree.has(whole), tree.remove(whole)]).toEqual([false, false]);
    expect(tree.witness(whole, subtree)).toBeUndefined();
    expect(tree.remove(path('x'))).toBe(true);
    expect(checkLabelStructure(5).nodes).toBe(0);
  });

  test('returns a witness of 300 kB', () => {
    const large = encode([3, new Uint8Array(300_000).fill(7)]);
    tree.set(path('a/b'), leafHash(new Uint8Array(300_000).fill(7)));
    const bytes = tree.witness(path('a/b'), large);
    expect(bytes?.length).toBeGreaterThan(300_000);
    expect(openWitness(bytes, tree.hash()).see(['a', 'b'])).toMatch(/^leaf:/);
  });

  test('refuses operands of wrong lengths and leaves no pending operation', () => {
    expect(() => tree.set(path('a'), new Uint8Array(31))).toThrow('the hash has 31 bytes');
    for (const length of [0, 63, 65, 640_064]) {
      expect(() => tree.setLeaves(path('a'), new Uint8Array(length))).toThrow('the leaves has');
    }
    const twice = Buffer.concat([hash, hash, hash, hash]);
    expect(() => tree.setLeaves(path('a'), twice)).toThrow('unreachable');
    expect(() => tree.has({ text: 'a', hashes: [new Uint8Array(31)] })).toThrow('unreachable');
    const elsewhere = openLabelTree(6, 0);
    expect(() => tree.move(path('a'), { tree: elsewhere, path: path('a') })).toThrow('one space');
    expect(() => kernelCall(new Uint8Array(1))).not.toThrow();
  });

  test('has the same level of 10,000 leaves whether they are set together or one by one', () => {
    const entries = Array.from({ length: 10_000 }, (_, index) => {
      const label = createHash('sha256').update(`${index}`).digest();
      return { label, hash: createHash('sha256').update(label).digest() };
    });
    tree.setLeaves(path('a'), Buffer.concat(entries.flatMap(({ label, hash }) => [label, hash])));
    const atOnce = tree.hash();
    for (const { label, hash } of entries) {
      tree.set({ text: 'b', hashes: [label] }, hash);
    }
    tree.remove(path('a'));
    tree.move(path('b'), { tree, path: path('a') });
    expect(tree.hash()).toEqual(atOnce);
  });

  test('has the expected bytes', () => {
    const golden = Buffer.alloc(16 * 31);
    tree.set(path('a'), hash);
    tree.set(path('b'), hash);
    spaceRead({ space: 5, offset: 0 }, golden);
    const part = (start: number, end: number) => golden.toString('hex', start, end);
    // Version 1, the end of the slots, three nodes
    expect(part(0, 24)).toBe(`004546534c424c31${'01000000'}${'1f000000'}${'03000000'}00000000`);
    expect(part(24, 68)).toBe('00'.repeat(44));
    expect(part(68, 104)).toBe(`1a000000${hex(tree.hash())}`);
    const leaf = (label: string) => `0200010000000000${hex(hash)}${label}`;
    expect(part(256, 297)).toBe(leaf('61'));
    expect(part(336, 377)).toBe(leaf('62'));
    // The labels differ at the seventh bit of their first byte
    expect(part(416, 424)).toBe('0100070010000000');
    expect(part(456, 460)).toBe('15000000');
  });

  test('refuses space 0, which belongs to the canister', () => {
    expect(() => openLabelTree(0, 0).set(path('a'), hash)).toThrow('unreachable');
  });

  test('traps when stable memory cannot grow', () => {
    host.system.stablePagesMax = 33;
    expect(() => tree.set(path('a'), hash)).toThrow('unreachable');
  });

  test('refuses a space that it did not format', () => {
    tree.set(path('a'), hash);
    const at = Buffer.from(host.system.stable).indexOf('EFSLBL1');
    host.system.stable[at] = 1;
    expect(() => tree.hash()).toThrow('unreachable');
  });
});

describe('openLabelTree(): the proof for a wildcard', () => {
  const missing = path('http_expr/cloud/demo/b/<$>');

  function proof(from: LabelPath, depth: number) {
    return openWitness(tree.fallbackWitness(from, { depth, subtree }), tree.hash());
  }

  beforeEach(() => {
    for (const each of ['cloud/demo/a/<$>', 'cloud/demo/c/<$>', '<*>', 'cloud/<*>', 'api/<*>']) {
      tree.set(path(`http_expr/${each}`), hash);
    }
  });

  test('has the depth of the deepest wildcard that can answer', () => {
    expect(tree.wildcardDepth(missing)).toBe(2);
    expect(tree.wildcardDepth(path('http_expr/x'))).toBe(1);
    expect(tree.wildcardDepth(path('http_expr'))).toBeUndefined();
    expect(tree.wildcardDepth(path('http_expr/cloud'))).toBe(1);
    tree.set(path('<*>'), hash);
    expect(tree.wildcardDepth(path('x'))).toBe(0);
  });

  test('shows the wildcard, and that the path and every deeper wildcard are absent', () => {
    const seen = proof(missing, 2);
    expect(seen.see(['http_expr', 'cloud', '<*>'])).toBe('leaf:value');
    expect(seen.see(labelsOf(missing))).toBe('absent');
    for (const text of ['cloud/demo/<*>', 'cloud/demo/b/<*>', 'cloud/demo/b/<$>/<*>']) {
      expect(seen.see(['http_expr', ...text.split('/')])).toBe('absent');
    }
  });

  test('shows nothing else', () => {
    const seen = proof(missing, 2);
    expect(seen.see(['http_expr', '<*>'])).toBe('unknown');
    expect(seen.see(['http_expr', 'cloud', 'demo', 'a', '<$>'])).toBe('unknown');
  });

  test('is refused for a nearer wildcard, a missing one, and an existing path', () => {
    const refused: readonly [LabelPath, number][] = [
      [missing, 1],
      [missing, 0],
      [missing, 3],
      [missing, 4_000_000_000],
      [path('http_expr/cloud/demo/a/<$>'), 2],
      [path('http_expr/cloud/demo/a/<$>/x'), 2],
    ];
    for (const [from, depth] of refused) {
      expect(tree.fallbackWitness(from, { depth, subtree }), from.text).toBeUndefined();
    }
  });

  test('also exists for a path through a label `<*>`', () => {
    const seen = proof(path('http_expr/cloud/<*>/x/<$>'), 2);
    expect(seen.see(['http_expr', 'cloud', '<*>'])).toBe('leaf:value');
    expect(seen.see(['http_expr', 'cloud', '<*>', 'x', '<$>'])).toBe('absent');
  });
});
