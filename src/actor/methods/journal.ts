// Actor methods of the journal: entries for members of a bucket, and the chain of blocks as ICRC-3
// defines it.

import { IDL } from '@dfinity/candid';
import { msgReply } from 'azle';
import { type JournalPage, readBlocks, readJournal } from '../../domain/journal/journal-reading.ts';
import { keepJournal } from '../../domain/journal/journal-retention.ts';
import { redactEntries } from '../../domain/journal/redaction.ts';
import { entryKinds } from '../../domain/shared/journal.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { leb128 } from '../../lib/leb128.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { journalPageMax, journalQueryMax } from '../../limits.ts';
import {
  BlockRange,
  BlockType,
  JournalBlocks,
  JournalRequest,
  ResultCount,
  ResultJournalPage,
  TipCertificate,
} from '../candid/journal.ts';
import { encodeResult, headOfOk, messageHead } from '../candid/result.ts';
import { decodeArguments, query, update } from '../dispatch/method.ts';
import { replyBytes } from '../messages/native-reply.ts';
import { numberOf, type Optional, optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { blockTypes, journalLog } from '../runtime/journal.ts';
import { proveTip } from '../runtime/publication.ts';
import { stores } from '../runtime/runtime.ts';
import { dataCertificate } from '../runtime/system.ts';

interface RequestArgument {
  bucketId: string;
  apiKey: Optional<string>;
  after: Optional<bigint>;
  before: Optional<bigint>;
  limit: Optional<bigint>;
}

type Range = { start: bigint; length: bigint };

const { Opt, Vec } = IDL;
const journalSignature = { name: 'readJournal', parameters: [JournalRequest] };
const blocksSignature = { name: 'icrc3_get_blocks', parameters: [Vec(BlockRange)] };
const tipType = Opt(TipCertificate);
const typesType = Vec(BlockType);
/** In the repository. */
const blocksDocument = 'docs/reference/journal.md';

/** Only queries have a certificate; in an update, many entries would cost the canister cycles. */
function limitMaxOf([limit = 0n]: Optional<bigint>): number {
  const isLarge = limit > journalPageMax && dataCertificate() !== undefined;
  return isLarge ? journalQueryMax : journalPageMax;
}

/** Each text in UTF-8, after its length. */
function lengthAndText(texts: readonly string[]): Uint8Array {
  return concatBytes(...texts.flatMap((text) => [Uint8Array.of(text.length), encodeUtf8(text)]));
}

const kindNames = lengthAndText(entryKinds);
const typeNames = lengthAndText(blockTypes);
/** The fields of the page are ordered by hash: keptDays, hasMore, last, entries. */
const pageHead = headOfOk(ResultJournalPage);
/** log_length, blocks, archived_blocks */
const blocksHead = messageHead(JournalBlocks);
const noArchive = Uint8Array.of(0);

function clampedOf([number]: Optional<bigint>): number | undefined {
  return number === undefined ? undefined : clamped(number);
}

function clamped(number: bigint): number {
  return Math.min(Number(number), Number.MAX_SAFE_INTEGER - 1);
}

function reply(type: IDL.Type, value: unknown): void {
  msgReply(concatBytes(messageHead(type), type.encodeValue(value)));
}

/** The journal: an entry for each change, and the chain of their blocks. */
export class JournalActor {
  /**
   * (request) Returns entries of a bucket for its members, and for keys with the permission audit.
   * Errors: AccessDenied, InvalidApiKey, NoSuchBucket.
   */
  @query([JournalRequest], ResultJournalPage, { manual: true })
  readJournal(): void {
    const decoded = decodeArguments<[RequestArgument]>(journalSignature);
    if (decoded === undefined) return;
    const [{ bucketId, apiKey, after, before, limit }] = decoded;
    const { ok, err } = answer(() =>
      readJournal(stores, currentCall(), {
        bucket: bucketId,
        apiKey: apiKey[0],
        after: clampedOf(after),
        before: clampedOf(before),
        limit: numberOf(limit),
        limitMax: limitMaxOf(limit),
        kinds: kindNames,
      }),
    ) as { ok?: JournalPage; err?: string };
    if (ok === undefined) {
      msgReply(encodeResult(ResultJournalPage, { err }));
      return;
    }
    const { entries, last, hasMore, keptDays } = ok;
    const numbers = [leb128(keptDays), Uint8Array.of(hasMore ? 1 : 0), leb128(last)];
    replyBytes(concatBytes(pageHead, ...numbers, leb128(entries.count)), entries.bytes);
  }

  /**
   * (bucketId, entries) Replaces the subjects of a bucket's entries, such as paths, by hashes, for
   * owners: at most 100. ok says how many. Errors: AccessDenied, InvalidArgument, NoSuchBucket.
   */
  @update([IDL.Text, Vec(IDL.Nat)], ResultCount)
  redactEntries(bucket: string, entries: bigint[]) {
    return answer(() =>
      redactEntries(stores, currentCall(), { bucket, entries: entries.map(clamped) }),
    );
  }

  /**
   * (bucketId, days) Sets for how many days a bucket shows its entries, for owners: 0 to 3650, 90
   * by default. ok is the number. Errors: AccessDenied, InvalidArgument, NoSuchBucket.
   */
  @update([IDL.Text, IDL.Nat], ResultCount)
  keepJournal(bucket: string, days: bigint) {
    return answer(() => keepJournal(stores, currentCall(), { bucket, days: clamped(days) }));
  }

  /**
   * (ranges) Returns blocks, at most 5,000, to controllers and members of any bucket, and none to
   * others. They show the kind and the time of each change, and a commitment to the rest.
   */
  @query([Vec(BlockRange)], JournalBlocks, { manual: true })
  icrc3_get_blocks(): void {
    const decoded = decodeArguments<[Range[]]>(blocksSignature);
    if (decoded === undefined) return;
    const ranges = decoded[0].map(({ start, length }) => ({
      start: clamped(start),
      length: clamped(length),
    }));
    const pages = readBlocks(stores, currentCall(), { ranges, types: typeNames });
    const count = pages.reduce((sum, page) => sum + page.count, 0);
    const bytes = concatBytes(...pages.map((page) => page.bytes), noArchive);
    replyBytes(concatBytes(blocksHead, leb128(journalLog.tip().last), leb128(count)), bytes);
  }

  /**
   * Proves the index and the hash of the last block; null while the journal is empty, and to calls
   * that are no queries, which get no certificate.
   */
  @query([], tipType, { manual: true })
  icrc3_get_tip_certificate(): void {
    const certificate = dataCertificate();
    const hash_tree = certificate && proveTip();
    const tip = hash_tree && { certificate, hash_tree };
    reply(tipType, optional(tip));
  }

  /** Returns the types of blocks, and where they are described. */
  @query([], typesType, { manual: true })
  icrc3_supported_block_types(): void {
    reply(
      typesType,
      blockTypes.map((block_type) => ({ block_type, url: blocksDocument })),
    );
  }
}
