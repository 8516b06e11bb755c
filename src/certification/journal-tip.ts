// The end of the journal beside the tree of answers over HTTP: ICRC-3 certifies the hash of the
// last block and its index. They have a fork of their own at the right, so that a new entry changes
// no node of the other tree:
//
//   fork / http_expr …                 left: label-tree.ts
//        / fork / last_block_hash      32 bytes
//               / last_block_index     LEB128, counted from 0

import { concatBytes } from '../lib/bytes.ts';
import { leb128 } from '../lib/leb128.ts';
import type { JournalTip } from '../storage/journal-log.ts';
import type { LabelTree } from '../storage/label-tree.ts';
import { asciiBytes } from './ascii.ts';
import { cborOf, prunedTree, valueTree } from './hash-tree.ts';
import type { ProvedTree } from './site-proofs.ts';

// CBOR: the tag of self-described CBOR; [1, left, right]; [2, label, tree]
const tag = Uint8Array.of(0xd9, 0xd9, 0xf7);
const fork = Uint8Array.of(0x83, 1);
const hashLabel = concatBytes(Uint8Array.of(0x83, 2, 0x4f), asciiBytes('last_block_hash'));
const indexLabel = concatBytes(Uint8Array.of(0x83, 2, 0x50), asciiBytes('last_block_index'));

/**
 * Returns the tree with witnesses of the whole certified tree. `beside`: returns the root of the
 * part at the right, `undefined` while the journal is empty.
 */
export function besideJournal(tree: LabelTree, beside: () => Uint8Array | undefined): ProvedTree {
  const whole = (witness: Uint8Array | undefined) => {
    const right = beside();
    if (witness === undefined || right === undefined) return witness;
    return concatBytes(tag, fork, witness.subarray(tag.length), cborOf(prunedTree(right)));
  };
  return {
    has: tree.has,
    wildcardDepth: tree.wildcardDepth,
    witness: (path, subtree) => whole(tree.witness(path, subtree)),
    fallbackWitness: (path, wildcard) => whole(tree.fallbackWitness(path, wildcard)),
  };
}

/** Returns CBOR, with tag, that shows the end of the journal. `left`: root of the other tree. */
export function tipWitness(left: Uint8Array, { hash, last }: JournalTip): Uint8Array {
  const ofHash = concatBytes(hashLabel, cborOf(valueTree(hash)));
  const ofIndex = concatBytes(indexLabel, cborOf(valueTree(leb128(last - 1))));
  return concatBytes(tag, fork, cborOf(prunedTree(left)), fork, ofHash, ofIndex);
}
