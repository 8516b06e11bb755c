import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HashTree } from '../../../packages/replica/src/state/hash-tree.ts';
import {
  empty,
  fork,
  fromEntries,
  labeled,
  leaf,
  lookup,
  lookupValue,
  prune,
  pruned,
  toArrays,
} from '../../../packages/replica/src/state/hash-tree.ts';
import { encodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const hex = (value: Uint8Array): string => Buffer.from(value).toString('hex');
const fromHex = (text: string): Uint8Array => Buffer.from(text, 'hex');

/** The example tree of the IC spec, "Certificate", with the same forks. */
function exampleTree(): HashTree {
  const a = fork(
    fork(labeled('x', leaf(bytes('hello'))), empty()),
    labeled('y', leaf(bytes('world'))),
  );
  return fork(
    fork(labeled('a', a), labeled('b', leaf(bytes('good')))),
    fork(labeled('c', empty()), labeled('d', leaf(bytes('morning')))),
  );
}

const exampleRoot = 'eb5c5b2195e62d996b84c9bcc8259d19a83786a2f59e0878cec84c811f669aa0';

describe('hash tree of the interface specification', () => {
  it('has the root hash that the specification gives', () => {
    expect(hex(exampleTree().hash)).toBe(exampleRoot);
  });

  it('has the CBOR form that the specification gives, after the self-describing tag', () => {
    expect(hex(encodeSelfDescribed(toArrays(exampleTree())))).toBe(
      'd9d9f78301830183024161830183018302417882034568656c6c6f810083024179820345776f726c64' +
        '83024162820344676f6f648301830241638100830241648203476d6f726e696e67',
    );
  });

  it('pruned to a/y, ax and d keeps the root hash and the hashes that the specification gives', () => {
    const a = fork(
      pruned(fromHex('1b4feff9bef8131788b0c9dc6dbad6e81e524249c879e9f10f71ce3749f5a638')),
      labeled('y', leaf(bytes('world'))),
    );
    const tree = fork(
      fork(
        labeled('a', a),
        labeled(
          'b',
          pruned(fromHex('7b32ac0c6ba8ce35ac82c255fc7906f7fc130dab2a090f80fe12f9c2cae83ba6')),
        ),
      ),
      fork(
        pruned(fromHex('ec8324b8a1f1ac16bd2e806edba78006479c9877fed4eb464a25485465af601d')),
        labeled('d', leaf(bytes('morning'))),
      ),
    );
    expect(hex(tree.hash)).toBe(exampleRoot);
    const path = (...labels: string[]): Uint8Array[] => labels.map(bytes);
    expect(lookup(tree, path('a', 'a')).status).toBe('unknown');
    expect(lookupValue(tree, path('a', 'y'))).toEqual(bytes('world'));
    expect(lookup(tree, path('aa')).status).toBe('absent');
    expect(lookup(tree, path('ax')).status).toBe('absent');
    expect(lookup(tree, path('b')).status).toBe('unknown');
    expect(lookup(tree, path('bb')).status).toBe('unknown');
    expect(lookupValue(tree, path('d'))).toEqual(bytes('morning'));
    expect(lookup(tree, path('e')).status).toBe('absent');
  });
});

interface Plain extends Map<string, Plain | string> {}

const label = fc.string({ minLength: 0, maxLength: 3, unit: fc.constantFrom('a', 'b', 'c') });
const plainTree = fc.letrec<{ tree: Plain; value: Plain | string }>((tie) => ({
  tree: fc
    .array(fc.tuple(label, tie('value')), { maxLength: 8 })
    .map((entries) => new Map(entries) as Plain),
  value: fc.oneof({ maxDepth: 3 }, fc.string({ maxLength: 4 }), tie('tree')),
})).tree;
const somePath = fc.array(label, { maxLength: 4 });

function build(value: Plain | string): HashTree {
  if (typeof value === 'string') return leaf(bytes(value));
  return fromEntries([...value].map(([name, child]) => [name, build(child)] as const));
}

function plainLookup(value: Plain | string, path: readonly string[]): Plain | string | undefined {
  const [first, ...rest] = path;
  if (first === undefined) return value;
  const child = typeof value === 'string' ? undefined : value.get(first);
  return child === undefined ? undefined : plainLookup(child, rest);
}

function rehash(tree: HashTree): Uint8Array {
  if (tree.kind === 'fork') {
    return fork(pruned(rehash(tree.left)), pruned(rehash(tree.right))).hash;
  }
  if (tree.kind === 'labeled') return labeled(tree.label, pruned(rehash(tree.child))).hash;
  return tree.kind === 'leaf' ? leaf(tree.value).hash : tree.hash;
}

describe('prune()', () => {
  it('keeps the root hash and proves every requested path', () => {
    fc.assert(
      fc.property(plainTree, fc.array(somePath, { maxLength: 4 }), (plain, paths) => {
        const tree = build(plain);
        const witness = prune(
          tree,
          paths.map((path) => path.map(bytes)),
        );
        expect(hex(rehash(witness))).toBe(hex(tree.hash));
        for (const path of paths) {
          const expected = plainLookup(plain, path);
          const result = lookup(witness, path.map(bytes));
          const isEmpty = expected instanceof Map && expected.size === 0;
          expect(result.status).toBe(expected === undefined || isEmpty ? 'absent' : 'found');
          if (result.status === 'found' && expected !== undefined) {
            expect(hex(rehash(result.subtree))).toBe(hex(build(expected).hash));
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it('prunes the values beside the path', () => {
    const tree = fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, leaf(bytes(`=${name}`))]));
    const shown = hex(encodeSelfDescribed(toArrays(prune(tree, [[bytes('b')]]))));
    expect(shown).toContain(hex(bytes('=b')));
    for (const other of ['=a', '=c', '=d']) expect(shown).not.toContain(hex(bytes(other)));
  });

  it('proves an absent label by its neighbours without their subtrees', () => {
    const tree = fromEntries(['a', 'c', 'e'].map((name) => [name, leaf(bytes(`=${name}`))]));
    const witness = prune(tree, [[bytes('d')]]);
    expect(lookup(witness, [bytes('d')]).status).toBe('absent');
    expect(lookup(witness, [bytes('c')]).status).toBe('unknown');
    expect(lookup(witness, [bytes('a')]).status).toBe('unknown');
  });
});
