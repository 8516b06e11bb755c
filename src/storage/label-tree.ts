// A forest of labels with subtree hashes (IC spec, "Certificate": hash-tree) in a space of stable
// memory, by the native kernel (kernel/label-operations.ts). The data below the end of a path may
// be opaque: only its hash is stored. The root depends only on the content.

import {
  createCommand,
  type KernelCommand,
  kernelCall,
  kernelOperations,
  kernelWords,
  refuseOperand,
} from '../crypto/kernel.ts';
import { assert, present } from '../lib/assert.ts';
import { concatBytes, emptyBytes } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';
import type { StableSpace } from './stable-space.ts';

export { partLeaves } from './part-leaves.ts';

/**
 * At least one label: texts joined by NUL, which no label contains, then labels of 32 bytes. A path
 * to set has at most 4,000 bytes of text, 1,100 bytes per label and 1,000 labels.
 */
export interface LabelPath {
  /** `http_expr\0cloud\0a.txt\0<$>`; a label can be empty, also after a final NUL. */
  readonly text: string;
  readonly hashes?: readonly Uint8Array[];
}

export interface WildcardAnswer {
  /** The result of `wildcardDepth()`. */
  readonly depth: number;
  /** CBOR, without tag, of the hash tree whose hash was set at the wildcard. */
  readonly subtree: Uint8Array;
}

export interface LabelTree {
  /** Returns 32 bytes; for an empty tree the hash of an empty IC hash tree. */
  hash(): Uint8Array;
  /**
   * Stores an opaque subtree with that hash at the path, replacing an existing one. Creates labels
   * on the way and turns opaque ones into levels.
   */
  set(path: LabelPath, hash: Uint8Array): void;
  /**
   * Stores a level of opaque leaves at the path, replacing existing data: 1 to 10,000 entries of
   * label and hash, 32 bytes each, in any order, with unique labels.
   */
  setLeaves(path: LabelPath, entries: Uint8Array): void;
  has(path: LabelPath): boolean;
  /** Removes the path, all below it, and labels that become empty; false if it does not exist. */
  remove(path: LabelPath): boolean;
  /**
   * Moves the subtree at `from` to another path of the same space, and replaces the subtree there.
   * Returns false, and changes nothing, if `from` does not exist.
   */
  move(from: LabelPath, to: { readonly tree: LabelTree; readonly path: LabelPath }): boolean;
  /**
   * Returns CBOR of the tree, with tag, that shows the path and `subtree` (CBOR without tag) at its
   * opaque end; everything else is pruned. Undefined if the path does not exist or its end is not
   * opaque.
   */
  witness(path: LabelPath, subtree: Uint8Array): Uint8Array | undefined;
  /**
   * Returns the greatest d less than the number of the path's labels such that its first d labels,
   * followed by `<*>`, are in the tree: 1 for `http_expr\0<*>`. Undefined if there is no such d.
   */
  wildcardDepth(path: LabelPath): number | undefined;
  /**
   * Returns CBOR of the tree, with tag, that shows that wildcard with its subtree, and proves that
   * the path and every deeper `<*>` on it, also below an empty label, are absent. Wildcards closer
   * to the root stay pruned. Undefined if there is no such proof.
   */
  fallbackWitness(path: LabelPath, wildcard: WildcardAnswer): Uint8Array | undefined;
}

interface TreePlace {
  readonly space: StableSpace;
  readonly root: 0 | 1;
}

const rootWord = kernelWords.offset;
const otherRootWord = kernelWords.offset + 1;
const depthWord = kernelWords.length;
const hashBytes = 32;
const leafBytes = 64;
const leavesMax = 10_000;

const hashCommand = createCommand(kernelOperations.labelHash, 1);
const setCommand = createCommand(kernelOperations.labelSet, 3);
const setLeavesCommand = createCommand(kernelOperations.labelSetLeaves, 3);
const hasCommand = createCommand(kernelOperations.labelHas, 2);
const removeCommand = createCommand(kernelOperations.labelRemove, 2);
const moveCommand = createCommand(kernelOperations.labelMove, 4);
const wildcardDepthCommand = createCommand(kernelOperations.labelWildcardDepth, 2);
const witnessCommand = createCommand(kernelOperations.labelWitness, 4);
const fallbackWitnessCommand = createCommand(kernelOperations.labelFallbackWitness, 4);

/** Buffer for witnesses; grows to the largest so far. */
let witnessRoom = new Uint8Array(8_192);
const roomStep = 4_096;

const places = new WeakMap<LabelTree, TreePlace>();

/** Runs the operations of one tree. */
function openOperations({ space, root }: TreePlace) {
  // Passes each operand directly: spreading and joining lists costs as much as the operations.
  function open({ bytes, words }: KernelCommand): void {
    words[kernelWords.selector] = space;
    words[rootWord] = root;
    kernelCall(bytes);
  }

  /** Runs an operation on a path, with an optional operand; returns its result. */
  function run(command: KernelCommand, path: LabelPath, operand?: Uint8Array): number {
    const text = labelText(path.text);
    const hashes = hashesOf(path);
    open(command);
    kernelCall(text);
    kernelCall(hashes);
    if (operand !== undefined) kernelCall(operand);
    return command.words[kernelWords.result] ?? 0;
  }

  /** Repeats with more space if the witness does not fit. */
  function writeWitness(
    command: KernelCommand,
    path: LabelPath,
    subtree: Uint8Array,
  ): Uint8Array | undefined {
    const text = labelText(path.text);
    const hashes = hashesOf(path);
    while (true) {
      open(command);
      kernelCall(text);
      kernelCall(hashes);
      kernelCall(subtree);
      kernelCall(witnessRoom);
      const size = command.words[kernelWords.result] ?? 0;
      if (size === 0) return undefined;
      if (size <= witnessRoom.length) return witnessRoom.slice(0, size);
      witnessRoom = new Uint8Array(size + roomStep);
    }
  }

  return { open, run, writeWitness };
}

/** `space`: contains only label trees. */
export function openLabelTree(space: StableSpace, root: 0 | 1): LabelTree {
  const { open, run, writeWitness } = openOperations({ space, root });
  const tree: LabelTree = {
    hash() {
      const hash = new Uint8Array(hashBytes);
      open(hashCommand);
      kernelCall(hash);
      return hash;
    },
    set(path, hash) {
      if (hash.length !== hashBytes) refuseOperand('hash', hash);
      run(setCommand, path, hash);
    },
    setLeaves(path, entries) {
      const count = entries.length / leafBytes;
      if (!Number.isInteger(count) || count < 1 || count > leavesMax) {
        refuseOperand('leaves', entries);
      }
      run(setLeavesCommand, path, entries);
    },
    has: (path) => run(hasCommand, path) === 1,
    remove: (path) => run(removeCommand, path) === 1,
    move(from, to) {
      const target = present(places.get(to.tree), 'label tree');
      assert(target.space === space, 'subtrees are moved inside of one space');
      moveCommand.words[otherRootWord] = target.root;
      const [text, hashes] = [labelText(to.path.text), hashesOf(to.path)];
      run(moveCommand, from, text);
      kernelCall(hashes);
      return moveCommand.words[kernelWords.result] === 1;
    },
    witness: (path, subtree) => writeWitness(witnessCommand, path, subtree),
    wildcardDepth(path) {
      const labels = run(wildcardDepthCommand, path);
      return labels === 0 ? undefined : labels - 1;
    },
    fallbackWitness(path, { depth, subtree }) {
      fallbackWitnessCommand.words[depthWord] = depth;
      return writeWitness(fallbackWitnessCommand, path, subtree);
    },
  };
  places.set(tree, { space, root });
  return tree;
}

function hashesOf({ hashes }: LabelPath): Uint8Array {
  if (hashes === undefined) return emptyBytes;
  return hashes.length === 1 ? present(hashes[0], 'hash') : concatBytes(...hashes);
}

let lastText = '';
let lastBytes: Uint8Array = emptyBytes;

/** Returns UTF-8 of a path's text, cached because most answers use one path three times. */
export function labelText(text: string): Uint8Array {
  if (text !== lastText) {
    lastBytes = encodeUtf8(text);
    lastText = text;
  }
  return lastBytes;
}
