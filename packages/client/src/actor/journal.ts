// Reads the journal through actor calls: entries, blocks with their hashes, and the certified end.

import { hashOfMap, LookupPathStatus, lookup_path } from '@icp-sdk/core/agent';
import { lebDecode, lebEncode, PipeArrayBuffer } from '@icp-sdk/core/candid';
import { Principal } from '@icp-sdk/core/principal';
import { concatBytes, emptyBytes, encodeHex } from '../bytes/bytes.ts';
import type {
  JournalBlock as CandidBlock,
  JournalEntry as CandidEntry,
} from '../candid/file_storage.did.ts';
import type { AdministrationOperations, JournalBlock } from '../operations/administration.ts';
import { StorageError } from '../storage-error.ts';
import type { JournalActor, JournalEntry, JournalTip } from '../types/journal.ts';
import { type ActorCalls, calling } from './actor-call.ts';
import { isoTime, optionals } from './candid-records.ts';
import { call, type Service } from './connection.ts';
import { provenTree } from './proven-tree.ts';

type JournalOperations = Pick<
  AdministrationOperations,
  'readJournal' | 'keepJournal' | 'redactEntries' | 'getJournalTip' | 'getJournalBlocks'
>;

export const journalCalls: ActorCalls<JournalOperations> = {
  readJournal: calling(
    ({ actor }, { bucket, after, before, limit }) =>
      actor.readJournal({ bucketId: bucket, apiKey: [], ...optionals({ after, before, limit }) }),
    ({ entries, last, hasMore, keptDays }) => ({
      entries: entries.map(entryOf),
      last: Number(last),
      hasMore,
      keptDays: Number(keptDays),
    }),
  ),
  keepJournal: calling(
    ({ actor }, { bucket, days }) => actor.keepJournal(bucket, BigInt(days)),
    Number,
  ),
  redactEntries: calling(
    ({ actor }, { bucket, entries }) => actor.redactEntries(bucket, entries.map(BigInt)),
    Number,
  ),
  async getJournalTip(service, _, signal) {
    const [proof] = await call(signal, async () => ({
      ok: await service.actor.icrc3_get_tip_certificate(),
    }));
    return proof && provenTip(service, { certificate: proof.certificate, tree: proof.hash_tree });
  },
  async getJournalBlocks({ actor }, { start, length }, signal) {
    const range = { start: BigInt(start), length: BigInt(length) };
    const { blocks } = await call(signal, async () => ({
      ok: await actor.icrc3_get_blocks([range]),
    }));
    return blocks.map(blockOf);
  },
};

async function provenTip(
  service: Service,
  proof: Parameters<typeof provenTree>[1],
): Promise<JournalTip> {
  const { canisterId } = service;
  const failed = (cause?: unknown) =>
    new StorageError(
      'Untrusted',
      `A node's end of the journal of ${canisterId} is not the one that the network has signed: ` +
        'try again.',
      { isRetryable: true, cause },
    );
  const tree = await provenTree(service, proof, failed);
  const index = lookup_path(['last_block_index'], tree);
  const hash = lookup_path(['last_block_hash'], tree);
  if (index.status !== LookupPathStatus.Found || hash.status !== LookupPathStatus.Found) {
    throw failed();
  }
  const decoded = Number(lebDecode(new PipeArrayBuffer(index.value)));
  return { canisterId, index: decoded, hash: encodeHex(hash.value) };
}

/** Computes the hash by the rule of ICRC-3, which is the agent's rule for requests. */
function blockOf({ id, block }: CandidBlock): JournalBlock {
  const fields = Object.fromEntries(
    block.Map.map(([name, value]) => [name, Object.values(value)[0] as unknown]),
  );
  const { btype, ts, entry, phash } = fields;
  const isFirst = id === 0n;
  if (
    typeof btype !== 'string' ||
    !btype.startsWith(blockPrefix) ||
    typeof ts !== 'bigint' ||
    !isHash(entry) ||
    (isFirst ? phash !== undefined : !isHash(phash))
  ) {
    throw new StorageError(
      'IntegrityError',
      `Block ${id} of the journal is altered: it lacks a field that each block has, or has one of ` +
        'another type.',
      { details: { block: Number(id), fault: 'altered' } },
    );
  }
  return {
    index: Number(id),
    kind: btype.slice(blockPrefix.length),
    atNs: ts,
    commitment: entry,
    parentHash: isHash(phash) ? phash : undefined,
    hash: hashOfMap(fields),
  };
}

const blockPrefix = 'efs.';

function isHash(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array && value.length === 32;
}

/** Checks that the fields are those of the details to which the block commits. */
function entryOf(entry: CandidEntry): JournalEntry {
  const { seq, at, kind, subject, by } = entry;
  const [version] = entry.version;
  const [digest] = entry.digest;
  const { details, detailsSalt } = entry.proof;
  const [subjectSalt] = entry.proof.subjectSalt;
  const [subjectHash] = entry.proof.subjectHash;
  const shown = encodeHex(Uint8Array.from(details));
  if (shown !== detailsOf(entry)) {
    throw new StorageError(
      'IntegrityError',
      `Entry ${seq} of the journal is altered: its actor, version or digest is not the one of its ` +
        'proof.',
      { details: { block: Number(seq) - 1, fault: 'altered' } },
    );
  }
  return {
    seq: Number(seq),
    at: isoTime(at),
    kind,
    by: actorOf(by),
    subject,
    ...(subjectHash === undefined ? partsOf(kind, subject) : { isRedacted: true }),
    ...(version !== undefined && { version: Number(version) }),
    ...(digest !== undefined && { digest }),
    proof: {
      details: shown,
      detailsSalt: encodeHex(Uint8Array.from(detailsSalt)),
      ...(subjectSalt && { subjectSalt: encodeHex(Uint8Array.from(subjectSalt)) }),
      ...(subjectHash && { subjectHash: encodeHex(Uint8Array.from(subjectHash)) }),
    },
  };
}

function actorOf(by: CandidEntry['by']): JournalActor {
  if ('principal' in by) return { kind: 'principal', id: by.principal.toText() };
  return 'apiKey' in by ? { kind: 'apiKey', id: by.apiKey } : { kind: 'canister' };
}

/**
 * Returns the details in hexadecimal digits: kind of the actor, length of its id, id, version in
 * LEB128, length of the digest, digest.
 */
function detailsOf({ by, version: [version = 0n], digest: [digest = ''] }: CandidEntry): string {
  const [kind, id] =
    'principal' in by
      ? [1, by.principal.toUint8Array()]
      : 'apiKey' in by
        ? [2, new TextEncoder().encode(by.apiKey)]
        : [0, emptyBytes];
  const head = concatBytes(Uint8Array.of(kind, id.length), id, lebEncode(version));
  return encodeHex(head) + encodeHex(Uint8Array.of(digest.length / 2)) + digest;
}

/** Returns the parts of the subject, which are separated by NUL. */
function partsOf(kind: string, subject: string): Partial<JournalEntry> {
  const [first = '', second] = subject.split('\0');
  const [thing] = kind.split('.');
  switch (thing) {
    case 'file':
    case 'version':
    case 'hold':
      return { path: first, ...(second !== undefined && { formerPath: second }) };
    case 'link':
      return { path: first, linkId: second };
    case 'key':
      return { keyId: first };
    case 'member':
      return { member: Principal.fromHex(first).toText(), ...(second && { role: second }) };
    default:
      return kind === 'bucket.changed' ? { settings: subject.split('\0') } : {};
  }
}
