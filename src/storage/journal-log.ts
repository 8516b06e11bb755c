// The log of the journal in two spaces of stable memory, by the native kernel (kernel/journal.ts):
// sealed entries in the order of their numbers, and the chain of their blocks' hashes. It knows
// nothing of buckets and kinds.

import {
  createCommand,
  kernelCall,
  kernelLongs,
  kernelOperations,
  kernelWords,
  refuseOperand,
} from '../crypto/kernel.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { asciiBytes } from '../lib/text.ts';
import { spaceRead } from './stable-space.ts';

const hashBytes = 32;
/** Maximum number of bytes of an entry's details and subject together. */
const entryContentBytesMax = 4_096;
const entryHeadBytes = 46;
const commitmentStart = 14;
const two32 = 0x1_0000_0000;

/** The entry of a block, as it is stored: its content is sealed. */
export interface StoredEntry {
  /** A number from 1 without gaps. */
  readonly number: number;
  readonly kind: number;
  /** Number of the previous entry with the same owner; 0 for none. */
  readonly previous: number;
  /** Milliseconds since 1970. */
  readonly ms: number;
  /** 32 bytes. */
  readonly commitment: Uint8Array;
  readonly sealed: Uint8Array;
}

export interface ChainedEntry extends StoredEntry {
  /** Hash of the block before, 32 bytes; zeros for the first. */
  readonly hashBefore: Uint8Array;
}

export interface AppendedEntry {
  readonly kind: number;
  readonly ms: number;
  /** A number from newOwner(). */
  readonly owner: number;
  /** The key of the seal and the key of the salts, 32 bytes each, the same for each owner. */
  readonly keys: Uint8Array;
  /** Associated data of the seal. */
  readonly ownerName: Uint8Array;
  readonly details: Uint8Array;
  readonly subject: Uint8Array;
}

export interface JournalTip {
  /** Number of the last entry; 0 without entries. */
  readonly last: number;
  /** Number of the first stored entry; `last` + 1 without entries. */
  readonly first: number;
  /** Hash of the last block, 32 bytes; zeros without entries. */
  readonly hash: Uint8Array;
}

export interface JournalLog {
  /** Returns the number of a new owner of entries. */
  newOwner(): number;
  /** Returns the entry's number, and the owner's number of entries modulo 2^32. */
  append(entry: AppendedEntry): { readonly number: number; readonly count: number };
  /** Returns the number of the owner's last entry; 0 for none. */
  lastOf(owner: number): number;
  /**
   * Replaces the root of the certified tree, 32 bytes, by that of a tree with the end of the
   * journal beside it; returns the root of the part beside it.
   */
  addTip(root: Uint8Array): Uint8Array;
  /** Returns at most `limit` entries in order, fewer if they are many bytes. */
  read(number: number, limit: number): StoredEntry[];
  /** Returns one entry; `undefined` if it is not stored. */
  get(number: number): StoredEntry | undefined;
  /** Like read(), with the hash of the block before each entry; costs more. */
  readChained(number: number, limit: number): ChainedEntry[];
  tip(): JournalTip;
  /** Frees the first entries if all in their page are older; false if it frees none. */
  cut(beforeMs: number): boolean;
}

const appendCommand = createCommand(kernelOperations.journalAppend, 5);
const readCommand = createCommand(kernelOperations.journalRead, 3);
const tipCommand = createCommand(kernelOperations.journalTip, 1);
const cutCommand = createCommand(kernelOperations.journalCut, 0);
const ownerCommand = createCommand(kernelOperations.journalOwner, 0);
const rootCommand = createCommand(kernelOperations.journalRoot, 3);
const tipLabels = asciiBytes('last_block_hashlast_block_index');
const commands = [appendCommand, readCommand, tipCommand, cutCommand, ownerCommand, rootCommand];
const kindWord = kernelWords.length + 1;
/** Entries of one call, fewer if they are long. */
const readMax = 512;
const readBytes = 98_304;
/** Room for the longest entry, and the hash before it. */
const one = new Uint8Array(4_224);
const oneHash = new Uint8Array(hashBytes);
/** The third space of the journal. */
const lastSpace = 10;
const ownerBytes = 16;

/**
 * `blockHashes`: returns the SHA-256 of each name of a block, in the order of these hashes, and of
 * each block type by its number: kernel/journal.ts.
 */
export function openJournalLog(space: 8, blockHashes: () => Uint8Array): JournalLog {
  for (const { words } of commands) words[kernelWords.selector] = space;
  function tip(): JournalTip {
    const out = new Uint8Array(8 + hashBytes);
    kernelCall(tipCommand.bytes);
    kernelCall(out);
    const last = Number(new DataView(out.buffer).getBigUint64(0, true)) - 1;
    const first = Number(tipCommand.longs[kernelLongs.result]);
    return { last, first, hash: out.subarray(8) };
  }

  return {
    newOwner() {
      kernelCall(ownerCommand.bytes);
      return Number(ownerCommand.longs[kernelLongs.result]);
    },
    append({ kind, ms, owner, keys, ownerName, details, subject }) {
      if (keys.length !== 2 * hashBytes) refuseOperand('keys', keys);
      if (details.length + subject.length > entryContentBytesMax) refuseOperand('subject', subject);
      const { bytes, words } = appendCommand;
      const used = blockHashes();
      words[kernelWords.offset] = ms;
      words[kernelWords.offset + 1] = ms / two32;
      words[kernelWords.length] = owner;
      words[kindWord] = kind;
      kernelCall(bytes);
      kernelCall(keys);
      kernelCall(ownerName);
      kernelCall(details);
      kernelCall(subject);
      kernelCall(used);
      const { longResult, result } = kernelWords;
      const number = (words[longResult] ?? 0) + (words[longResult + 1] ?? 0) * two32;
      return { number, count: words[result] ?? 0 };
    },
    lastOf(owner) {
      const last = new Uint8Array(8);
      spaceRead({ space: lastSpace, offset: owner * ownerBytes }, last);
      return Number(new DataView(last.buffer).getBigUint64(0, true));
    },
    addTip(root) {
      const beside = new Uint8Array(hashBytes);
      kernelCall(rootCommand.bytes);
      kernelCall(tipLabels);
      kernelCall(root);
      kernelCall(beside);
      return beside;
    },
    ...openReading(blockHashes),
    tip,
    cut(beforeMs) {
      cutCommand.longs[kernelLongs.offset] = BigInt(beforeMs);
      kernelCall(cutCommand.bytes);
      return cutCommand.words[kernelWords.result] === 1;
    },
  };
}

function openReading(
  blockHashes: () => Uint8Array,
): Pick<JournalLog, 'read' | 'readChained' | 'get'> {
  /** Reads entries to `out`, and the hashes before them to `hashesBefore`, which bounds them. */
  function readTo(out: Uint8Array, number: number, isChained: boolean, hashesBefore: Uint8Array) {
    const used = isChained ? blockHashes() : emptyBytes;
    readCommand.longs[kernelLongs.offset] = BigInt(number);
    readCommand.words[kernelWords.length] = hashesBefore.length / hashBytes;
    kernelCall(readCommand.bytes);
    kernelCall(used);
    kernelCall(hashesBefore);
    kernelCall(out);
    return readCommand.words[kernelWords.result] ?? 0;
  }

  function readChained(number: number, limit: number, isChained: boolean): ChainedEntry[] {
    const out = new Uint8Array(readBytes);
    const hashesBefore = new Uint8Array(Math.min(limit, readMax) * hashBytes);
    const count = readTo(out, number, isChained, hashesBefore);
    const entries: ChainedEntry[] = [];
    for (let start = 0; entries.length < count; ) {
      const entry = decodeEntry(out, start, number + entries.length);
      const hashAt = entries.length * hashBytes;
      entries.push({ ...entry, hashBefore: hashesBefore.subarray(hashAt, hashAt + hashBytes) });
      start += entryHeadBytes + entry.sealed.length;
    }
    return entries;
  }

  return {
    read: (number, limit) => readChained(number, limit, false),
    readChained: (number, limit) => readChained(number, limit, true),
    get(number) {
      const count = readTo(one, number, false, oneHash);
      return count === 0 ? undefined : decodeEntry(one.slice(), 0, number);
    },
  };
}

function decodeEntry(bytes: Uint8Array, start: number, number: number): StoredEntry {
  const view = new DataView(bytes.buffer, start);
  const distance = view.getUint32(4, true);
  return {
    number,
    kind: view.getUint8(2),
    previous: distance === 0 ? 0 : number - distance,
    ms: view.getUint32(8, true) + view.getUint16(12, true) * two32,
    commitment: bytes.subarray(start + commitmentStart, start + entryHeadBytes),
    sealed: bytes.subarray(start + entryHeadBytes, start + view.getUint16(0, true)),
  };
}
