import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HashTree } from '../../../packages/replica/src/state/hash-tree.ts';
import { leaf, lookup, lookupValue, prune } from '../../../packages/replica/src/state/hash-tree.ts';
import type { RequestTrie } from '../../../packages/replica/src/state/request-trie.ts';
import {
  deleteRequest,
  setRequest,
  trieTree,
} from '../../../packages/replica/src/state/request-trie.ts';

const id = fc.uint8Array({ minLength: 2, maxLength: 2 });
const operation = fc.record({ id, value: fc.option(fc.string({ maxLength: 3 })) });

function labelsOf(tree: HashTree): Buffer[] {
  if (tree.kind === 'fork') return [...labelsOf(tree.left), ...labelsOf(tree.right)];
  return tree.kind === 'labeled' ? [Buffer.from(tree.label)] : [];
}

describe('request trie', () => {
  it('behaves like a sorted map under any insertions and deletions', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
        const reference = new Map<string, string>();
        let trie: RequestTrie;
        for (const { id, value } of operations) {
          const key = Buffer.from(id).toString('hex');
          if (value === null) {
            reference.delete(key);
            trie = deleteRequest(trie, id);
          } else {
            reference.set(key, value);
            trie = setRequest(trie, id, leaf(Buffer.from(value)));
          }
        }
        const labels = labelsOf(trieTree(trie)).map((label) => label.toString('hex'));
        expect(labels).toEqual([...reference.keys()].sort());
        for (const [key, value] of reference) {
          expect(lookupValue(trieTree(trie), [Buffer.from(key, 'hex')])).toEqual(
            Buffer.from(value),
          );
        }
      }),
    );
  });

  it('yields trees whose witnesses prove absence', () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 30 }), id, (ids, asked) => {
        let trie: RequestTrie;
        for (const id of ids) trie = setRequest(trie, id, leaf(id));
        const isThere = ids.some((id) => Buffer.compare(id, asked) === 0);
        const witness = prune(trieTree(trie), [[asked]]);
        expect(lookup(witness, [asked]).status).toBe(isThere ? 'found' : 'absent');
      }),
    );
  });
});
