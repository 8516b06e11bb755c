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
import { asciiBytes } from '../lib/text.ts';
import { spaceRead } from './stable-space.ts';

const hashBytes = 32;
/** Maximum number of bytes of an entry's details and subject together. */
const entryContentBytesMax = 4_096;
/** A subject has room for its hash. */
const subjectBytesMin = 32;
const two32 = 0x1_0000_0000;

/** The keys of an owner's entries. */
export interface OwnerKeys {
  /** The key of the seal and the key of the salts, 32 bytes each, the same for each owner. */
  readonly keys: Uint8Array;
  /** Associated data of the seal. */
  readonly ownerName: Uint8Array;
}

export interface AppendedEntry extends OwnerKeys {
  readonly kind: number;
  readonly ms: number;
  /** A number from newOwner(). */
  readonly owner: number;
  readonly details: Uint8Array;
  readonly subject: Uint8Array;
}

/** Entries of an owner, which are followed from one of them back. */
export interface EntryRange {
  /** A number of one of the owner's entries. */
  readonly start: number;
  /** Those after `bound`, the oldest first; otherwise those before it, the newest first. */
  readonly isForward: boolean;
  readonly bound: number;
  /** Milliseconds since 1970; none is older. */
  readonly fromMs: number;
  readonly limit: number;
}

/** Encoded entries or blocks, one after the other. */
export interface Encoded {
  readonly bytes: Uint8Array;
  readonly count: number;
}

export interface JournalTip {
  /** Number of the last entry; 0 without entries. */
  readonly last: number;
  /** Number of the first stored entry; `last` + 1 without entries. */
  readonly first: number;
  /** Hash of the last block, 32 bytes; zeros without entries. */
  readonly hash: Uint8Array;
}

/** The entry's bytes are not those that were sealed. */
export class AlteredEntry extends Error {
  readonly number: number;

  constructor(number: number) {
    super(`Entry ${number} of the journal was altered and cannot be decrypted.`);
    this.number = number;
  }
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
  /**
   * Returns at most `limit` of the owner's entries, fewer if they are many bytes or in many pages
   * of the log. `kinds`: names of the kinds, each after its length, for entries in Candid
   * (actor/candid/journal.ts); empty for opened ones, see kernel/journal-reading.ts. Throws
   * AlteredEntry.
   */
  entries(range: EntryRange, by: OwnerKeys, kinds: Uint8Array): Encoded & { hasMore: boolean };
  /** Returns the number of the first stored entry that is not older; the next one without any. */
  numberFrom(ms: number): number;
  /** Returns at most `limit` blocks in Candid. `types`: their names, each after its length. */
  blocks(number: number, limit: number, types: Uint8Array): Encoded;
  /** Replaces the subject of the owner's entry by its hash; false if it has no such entry. */
  redact(number: number, by: OwnerKeys): boolean;
  tip(): JournalTip;
  /** Frees the first entries if all in their page are older; false if it frees none. */
  cut(beforeMs: number): boolean;
}

const appendCommand = createCommand(kernelOperations.journalAppend, 5);
const entriesCommand = createCommand(kernelOperations.journalEntries, 4);
const blocksCommand = createCommand(kernelOperations.journalBlocks, 3);
const tipCommand = createCommand(kernelOperations.journalTip, 1);
const cutCommand = createCommand(kernelOperations.journalCut, 0);
const ownerCommand = createCommand(kernelOperations.journalOwner, 0);
const rootCommand = createCommand(kernelOperations.journalRoot, 3);
const redactCommand = createCommand(kernelOperations.journalRedact, 2);
const numberCommand = createCommand(kernelOperations.journalNumber, 0);
const tipLabels = asciiBytes('last_block_hashlast_block_index');
const commands = [
  appendCommand,
  entriesCommand,
  blocksCommand,
  tipCommand,
  cutCommand,
  ownerCommand,
  rootCommand,
  redactCommand,
  numberCommand,
];
/** The second word of the field `length`. */
const secondWord = kernelWords.length + 1;
const lastLong = kernelLongs.result + 1;
/** Room for opened entries of one call. */
const openedBytes = 65_536;
/** Room for each 100 entries in Candid. They are a reply: 50 instructions a byte. */
const candidBytes = 32_768;
/** Room for a block. */
const blockBytes = 256;
/** Room for the longest block behind others. */
const lastBlockBytes = 512;
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
      const padded = Math.max(subject.length, subjectBytesMin);
      if (details.length + padded > entryContentBytesMax) refuseOperand('subject', subject);
      const { bytes, words } = appendCommand;
      const used = blockHashes();
      words[kernelWords.offset] = ms;
      words[kernelWords.offset + 1] = ms / two32;
      words[kernelWords.length] = owner;
      words[secondWord] = kind;
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
    tip,
    entries: readEntries,
    numberFrom(ms) {
      numberCommand.longs[kernelLongs.offset] = BigInt(ms);
      kernelCall(numberCommand.bytes);
      return Number(numberCommand.longs[kernelLongs.result]);
    },
    blocks: (number, limit, types) => readBlocks({ number, limit, types, hashes: blockHashes() }),
    redact,
    cut(beforeMs) {
      cutCommand.longs[kernelLongs.offset] = BigInt(beforeMs);
      kernelCall(cutCommand.bytes);
      return cutCommand.words[kernelWords.result] === 1;
    },
  };
}

function readEntries(range: EntryRange, { keys, ownerName }: OwnerKeys, kinds: Uint8Array) {
  const room = kinds.length === 0 ? openedBytes : Math.ceil(range.limit / 100) * candidBytes;
  const out = new Uint8Array(room);
  const { bytes, words, longs } = entriesCommand;
  longs[kernelLongs.offset] = BigInt(range.start);
  words[kernelWords.length] = range.limit;
  words[secondWord] = range.isForward ? 1 : 0;
  longs[kernelLongs.result] = BigInt(range.bound);
  longs[lastLong] = BigInt(range.fromMs);
  kernelCall(bytes);
  kernelCall(keys);
  kernelCall(ownerName);
  kernelCall(kinds);
  kernelCall(out);
  const altered = Number(longs[kernelLongs.result]);
  if (altered !== 0) throw new AlteredEntry(altered);
  return {
    bytes: out.subarray(0, words[kernelWords.result]),
    count: words[kernelWords.length] ?? 0,
    hasMore: words[secondWord] === 1,
  };
}

interface ReadBlocks {
  readonly number: number;
  readonly limit: number;
  readonly types: Uint8Array;
  readonly hashes: Uint8Array;
}

function readBlocks({ number, limit, types, hashes }: ReadBlocks): Encoded {
  const out = new Uint8Array(Math.max(limit, 0) * blockBytes + lastBlockBytes);
  const { bytes, words, longs } = blocksCommand;
  longs[kernelLongs.offset] = BigInt(number);
  words[kernelWords.length] = limit;
  kernelCall(bytes);
  kernelCall(hashes);
  kernelCall(types);
  kernelCall(out);
  const count = words[kernelWords.longResult] ?? 0;
  return { bytes: out.subarray(0, words[kernelWords.result]), count };
}

function redact(number: number, { keys, ownerName }: OwnerKeys): boolean {
  const { bytes, words, longs } = redactCommand;
  longs[kernelLongs.offset] = BigInt(number);
  kernelCall(bytes);
  kernelCall(keys);
  kernelCall(ownerName);
  return words[kernelWords.result] === 1;
}
