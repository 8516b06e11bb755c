// Verifies the chain of the journal's blocks against its certified end, and a bucket's entries
// against their blocks. Each answer is one node's word until the chain that contains it ends in the
// certified hash.

import { bytesEqual, concatBytes, decodeHex, emptyBytes, encodeHex } from '../bytes/bytes.ts';
import { shortSha256 as sha256 } from '../bytes/short-sha256.ts';
import type { Connection } from '../connection/connection.ts';
import type { Signal } from '../connection/transport.ts';
import type { BlockRange, JournalBlock } from '../operations/administration.ts';
import { StorageError } from '../storage-error.ts';
import type {
  JournalEntry,
  JournalProof,
  JournalTip,
  JournalVerifyOptions,
  VerifiedJournal,
} from '../types/journal.ts';
import { manage } from './buckets-and-keys.ts';
import { entriesOf } from './journal-entries.ts';

/** Blocks of one query, as many as the service returns. */
const pageBlocks = 5_000;
/** Queries at a time. */
const pagesAhead = 4;
const saltBytes = 16;
const hashBytes = 32;
const nsPerMs = 1_000_000n;
const utf8 = new TextEncoder();
/** A block that is freed is 90 days old; clocks may differ by an hour. */
const keptMsMin = (90 * 24 - 1) * 3_600_000;

type Fault = 'altered' | 'missing' | 'repeated' | 'reordered';

function damaged(block: number, fault: Fault, words: string): StorageError {
  return new StorageError(
    'IntegrityError',
    `Block ${block} of the journal is ${fault}: ${words} A node answered falsely, or the journal ` +
      'was changed; verify again to reach another node.',
    { details: { block, fault } },
  );
}

export async function verifyJournal(
  connection: Connection,
  { bucket, since, signal, onProgress }: JournalVerifyOptions,
): Promise<VerifiedJournal> {
  const tip = await certifiedTip(connection, signal);
  if (since !== undefined) requireLater(tip, since);
  const first = await firstBlock(connection, tip, signal);
  if (since !== undefined && since.index < first) throw isGone(since, first);
  const blockCount = tip.index + 1 - first;
  const pages = pagesOf(connection, { first, count: tip.index + 1, signal });
  const entries =
    bucket === undefined
      ? undefined
      : new EntryComparison(entriesOf(connection, bucket, { after: first, signal }), first);
  let before: JournalBlock | undefined;
  for await (const { start, blocks } of pages) {
    const chained = before === undefined ? blocks : [before, ...blocks];
    requirePlaces(blocks, start, Math.min(pageBlocks, tip.index + 1 - start));
    requireChain(chained);
    requireNoted(blocks, since);
    await entries?.require(start, blocks);
    before = blocks.at(-1);
    onProgress?.({ blocks: start + blocks.length - first, blockCount });
  }
  if (before === undefined || encodeHex(before.hash) !== tip.hash) {
    throw damaged(tip.index, 'altered', 'its hash is not the one that the network has certified.');
  }
  return { tip, first, blocks: blockCount, ...(entries && { entries: entries.count }) };
}

async function certifiedTip(connection: Connection, signal: Signal): Promise<JournalTip> {
  const tip = await manage(connection, 'getJournalTip', undefined, signal);
  if (tip !== undefined) return tip;
  throw new StorageError(
    'Untrusted',
    'A node reports that the journal is empty, which no certificate proves: verify again after a ' +
      'change in a bucket.',
    { isRetryable: true },
  );
}

function requireLater(tip: JournalTip, since: JournalTip): void {
  if (since.canisterId !== tip.canisterId) {
    throw new StorageError(
      'InvalidArgument',
      `The earlier tip belongs to the canister ${since.canisterId}, and the journal to ` +
        `${tip.canisterId}: pass a tip of the same canister.`,
    );
  }
  if (since.index <= tip.index) return;
  throw damaged(
    since.index,
    'missing',
    `the earlier tip has it, but the journal ends at ${tip.index}.`,
  );
}

/**
 * Returns the index of the first block that is stored. The service frees blocks that are older than
 * 90 days: a node that withholds younger ones is detected.
 */
async function firstBlock(connection: Connection, tip: JournalTip, signal: Signal) {
  const read = (length: number) =>
    manage(connection, 'getJournalBlocks', { start: 0, length }, signal);
  const [zeroth] = await read(1);
  if (zeroth !== undefined) return 0;
  const [first] = await read(tip.index + 1);
  if (first === undefined) return 0;
  const ageMs = Date.now() - Number(first.atNs / nsPerMs);
  if (ageMs > keptMsMin) return first.index;
  const words = 'the service did not return it, and the first that it returned is too young.';
  throw damaged(0, 'missing', words);
}

function isGone(since: JournalTip, first: number): StorageError {
  return new StorageError(
    'InvalidArgument',
    `The earlier tip is block ${since.index}, and the service stores blocks from ${first} on, so ` +
      'nothing can be proved about it: verify without it, and more often than every 90 days.',
  );
}

interface Page {
  /** Index of the first block. */
  readonly start: number;
  readonly blocks: readonly JournalBlock[];
}

interface Pages {
  readonly first: number;
  readonly count: number;
  readonly signal: Signal;
}

/** Yields pages of blocks in order, and requests a few of them ahead. */
async function* pagesOf(connection: Connection, { first, count, signal }: Pages) {
  const running: Promise<Page>[] = [];
  const read = async (start: number): Promise<Page> => {
    const length = Math.min(pageBlocks, count - start);
    return { start, blocks: await readBlocks(connection, { start, length }, signal) };
  };
  for (let start = first; start < count || running.length > 0; ) {
    for (; start < count && running.length < pagesAhead; start += pageBlocks) {
      const page = read(start);
      // A failure is reported when the page's turn comes.
      page.catch(() => {});
      running.push(page);
    }
    const next = running.shift();
    if (next !== undefined) yield await next;
  }
}

/** A query returns fewer blocks if their entries are long. */
async function readBlocks(connection: Connection, { start, length }: BlockRange, signal: Signal) {
  const blocks: JournalBlock[] = [];
  for (let got = 1; got > 0 && blocks.length < length; ) {
    const range = { start: start + blocks.length, length: length - blocks.length };
    const found = await manage(connection, 'getJournalBlocks', range, signal);
    got = found.length;
    blocks.push(...found);
  }
  return blocks;
}

/** Throws unless the blocks have the indexes from `start` on. */
function requirePlaces(blocks: readonly JournalBlock[], start: number, count: number): void {
  if (blocks.length === 0 && start === 0) {
    throw new StorageError(
      'AccessDenied',
      'The service shows the blocks of the journal only to controllers and to members of a bucket: ' +
        'call with the identity of one.',
    );
  }
  const indexes = blocks.map(({ index }) => index);
  for (let at = 0; at < count; at++) {
    const wanted = start + at;
    const index = indexes[at];
    if (index === wanted) continue;
    if (index === undefined || !indexes.includes(wanted)) {
      throw damaged(wanted, 'missing', 'the service did not return it.');
    }
    if (indexes.indexOf(index) < at) {
      throw damaged(index, 'repeated', `it was returned in the place of block ${wanted}.`);
    }
    throw damaged(wanted, 'reordered', `block ${index} was returned in its place.`);
  }
  const extra = indexes[count];
  if (extra !== undefined) throw damaged(extra, 'repeated', 'it was returned beyond the range.');
}

/** Throws unless each block contains the hash of the one before. */
function requireChain(blocks: readonly JournalBlock[]): void {
  for (const [at, block] of blocks.entries()) {
    const before = blocks[at - 1];
    if (before === undefined || equal(block.parentHash, before.hash)) continue;
    throw brokenLink(blocks, at);
  }
}

/** Returns the error of a block that does not contain the hash of the one before. */
function brokenLink(blocks: readonly JournalBlock[], at: number): StorageError {
  const { index, hash, parentHash } = blocks[at] as JournalBlock;
  const { hash: expected, index: former } = blocks[at - 1] as JournalBlock;
  const same = blocks.slice(0, at).find((block) => equal(block.hash, hash));
  if (same !== undefined) {
    return damaged(same.index, 'repeated', `it was returned in the place of block ${index}.`);
  }
  const isLater = blocks.slice(at + 1).some((block) => equal(block.parentHash, expected));
  if (isLater) return damaged(index, 'reordered', 'another block was returned in its place.');
  // The block itself was altered if the next one does not contain its hash either.
  const next = blocks[at + 1];
  if (next !== undefined && !equal(next.parentHash, hash)) {
    return damaged(index, 'altered', `block ${next.index} contains another hash of it.`);
  }
  const isKnown = blocks.some((block) => equal(block.hash, parentHash));
  return isKnown
    ? damaged(index, 'reordered', 'it continues another block than the one before.')
    : damaged(former, 'altered', `block ${index} contains another hash of it.`);
}

function equal(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one !== undefined && other !== undefined && bytesEqual(one, other);
}

function requireNoted(blocks: readonly JournalBlock[], since: JournalTip | undefined): void {
  const noted = blocks.find(({ index }) => index === since?.index);
  if (noted === undefined || encodeHex(noted.hash) === since?.hash) return;
  throw damaged(
    noted.index,
    'altered',
    'it is not the block of the earlier tip, so a block up to it was changed since.',
  );
}

/**
 * Compares entries of the bucket with their blocks, in the order of both. A lying node cannot fill
 * the memory: reading stops at the first entry that is out of order.
 */
class EntryComparison {
  readonly #entries: AsyncIterator<JournalEntry>;
  #next: JournalEntry | undefined;
  #last: number;
  count = 0;

  /** `entries`: those after the number `last`. */
  constructor(entries: AsyncIterable<JournalEntry>, last: number) {
    this.#entries = entries[Symbol.asyncIterator]();
    this.#last = last;
  }

  /** Throws unless the entries of the next blocks are in order and match them. */
  async require(start: number, blocks: readonly JournalBlock[]): Promise<void> {
    this.#next ??= await this.#read();
    for (; this.#next !== undefined; this.#next = await this.#read()) {
      const { seq } = this.#next;
      if (seq <= this.#last) {
        const fault = seq === this.#last ? 'repeated' : 'reordered';
        const words = `entry ${seq} was returned after entry ${this.#last}.`;
        throw damaged(seq - 1, fault, words);
      }
      const block = blocks[seq - 1 - start];
      if (block === undefined) return;
      requireCommitted(this.#next, block);
      this.#last = seq;
      this.count += 1;
    }
  }

  async #read(): Promise<JournalEntry | undefined> {
    const { value, done } = await this.#entries.next();
    return done ? undefined : value;
  }
}

function requireCommitted(entry: JournalEntry, block: JournalBlock): void {
  const { seq, kind, at, proof, subject } = entry;
  const detailsSalt = decodeHex(proof.detailsSalt);
  const subjectHash = subjectHashOf(proof, subject);
  const details = decodeHex(proof.details);
  const commitment = sha256(concatBytes(detailsSalt, details, subjectHash));
  const time = new Date(Number(block.atNs / nsPerMs)).toISOString();
  const hasLengths = detailsSalt.length === saltBytes && subjectHash.length === hashBytes;
  if (hasLengths && kind === block.kind && at === time && equal(commitment, block.commitment)) {
    return;
  }
  throw damaged(block.index, 'altered', `entry ${seq} of the bucket does not match it.`);
}

/** Returns the hash of the subject; that of a redacted entry is known only by its proof. */
function subjectHashOf({ subjectSalt, subjectHash = '' }: JournalProof, subject: string) {
  if (subjectSalt === undefined) return decodeHex(subjectHash);
  const salt = decodeHex(subjectSalt);
  if (salt.length !== saltBytes) return emptyBytes;
  return sha256(concatBytes(salt, utf8.encode(subject)));
}
