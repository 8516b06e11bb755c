// Actor methods of the journal: entries for members of a bucket, and the chain of blocks as ICRC-3
// defines it.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { msgReply } from 'azle';
import type { Actor } from '../../domain/journal/bucket-journal.ts';
import {
  type Block,
  type JournalEntry as Entry,
  readBlocks,
  readJournal,
} from '../../domain/journal/journal-reading.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { encodeHex } from '../../lib/hex.ts';
import { decodeUtf8 } from '../../lib/text.ts';
import {
  BlockRange,
  BlockType,
  JournalBlocks,
  JournalRequest,
  ResultJournalPage,
  TipCertificate,
} from '../candid/journal.ts';
import { messageHead } from '../candid/result.ts';
import { decodeArguments, query } from '../dispatch/method.ts';
import { numberOf, type Optional, optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { blockTypes, journalLog } from '../runtime/journal.ts';
import { proveTip } from '../runtime/publication.ts';
import { stores } from '../runtime/runtime.ts';
import { dataCertificate } from '../runtime/system.ts';

interface RequestArgument {
  bucketId: string;
  after: Optional<bigint>;
  before: Optional<bigint>;
  limit: Optional<bigint>;
}

type Range = { start: bigint; length: bigint };

const { Opt, Vec } = IDL;
const blocksSignature = { name: 'icrc3_get_blocks', parameters: [Vec(BlockRange)] };
const tipType = Opt(TipCertificate);
const typesType = Vec(BlockType);
/** In the repository. */
const blocksDocument = 'docs/reference/journal.md';

function shownActor({ kind, id }: Actor) {
  if (kind === 'principal') return { principal: Principal.fromUint8Array(id) };
  return kind === 'key' ? { apiKey: decodeUtf8(id) ?? '' } : { canister: null };
}

function shownEntry(entry: Entry) {
  const { seq, atNs, kind, actor, subject, version, digest, details, salts } = entry;
  return {
    seq,
    at: atNs,
    kind,
    by: shownActor(actor),
    subject,
    version: optional(version === 0 ? undefined : version),
    digest: optional(digest.length === 0 ? undefined : encodeHex(digest)),
    proof: { details, detailsSalt: salts.details, subjectSalt: salts.subject },
  };
}

function shownBlock({ id, kind, atNs, commitment, parentHash }: Block) {
  const map: [string, object][] = [
    ['btype', { Text: `efs.${kind}` }],
    ['entry', { Blob: commitment }],
    ['ts', { Nat: atNs }],
  ];
  if (parentHash !== undefined) map.push(['phash', { Blob: parentHash }]);
  return { id, block: { Map: map } };
}

function clamped(number: bigint): number {
  return Math.min(Number(number), Number.MAX_SAFE_INTEGER - 1);
}

function reply(type: IDL.Type, value: unknown): void {
  msgReply(concatBytes(messageHead(type), type.encodeValue(value)));
}

/** The journal: an entry for each change, and the chain of their blocks. */
export class JournalActor {
  /** (request) Returns entries of a bucket for its members. Errors: AccessDenied, NoSuchBucket. */
  @query([JournalRequest], ResultJournalPage)
  readJournal({ bucketId, after, before, limit }: RequestArgument) {
    return answer(() => {
      const page = readJournal(stores, currentCall(), {
        bucket: bucketId,
        after: numberOf(after),
        before: numberOf(before),
        limit: numberOf(limit),
      });
      return { ...page, entries: page.entries.map(shownEntry) };
    });
  }

  /**
   * (ranges) Returns blocks, at most 500, to controllers and to members of any bucket, and none to
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
    const blocks = readBlocks(stores, currentCall(), ranges).map(shownBlock);
    reply(JournalBlocks, { log_length: journalLog.tip().last, blocks, archived_blocks: [] });
  }

  /** Proves the index and the hash of the last block; null while the journal is empty. */
  @query([], tipType, { manual: true })
  icrc3_get_tip_certificate(): void {
    const hash_tree = proveTip();
    const tip = hash_tree && { certificate: dataCertificate(), hash_tree };
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
