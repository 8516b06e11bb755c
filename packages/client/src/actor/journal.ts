// Reads the journal through actor calls: entries, blocks with their hashes, and the certified end.

import { LookupPathStatus, lookup_path } from '@icp-sdk/core/agent';
import { IDL, lebDecode, lebEncode, PipeArrayBuffer } from '@icp-sdk/core/candid';
import { Principal } from '@icp-sdk/core/principal';
import { concatBytes, emptyBytes, encodeHex } from '../bytes/bytes.ts';
import type { JournalEntry as CandidEntry } from '../candid/file_storage.did.ts';
import type { AdministrationOperations } from '../operations/administration.ts';
import { StorageError } from '../storage-error.ts';
import type { JournalActor, JournalEntry, JournalTip } from '../types/journal.ts';
import { type ActorCalls, calling } from './actor-call.ts';
import { isoTime, optionals } from './candid-records.ts';
import { call, type Service } from './connection.ts';
import { blocksIn } from './journal-blocks.ts';
import { queryReply } from './large-query.ts';
import { provenTree } from './proven-tree.ts';

const BlockRanges = IDL.Vec(IDL.Record({ start: IDL.Nat, length: IDL.Nat }));

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
  async getJournalBlocks({ agent, canisterId }, { start, length }, signal) {
    const argument = IDL.encode(
      [BlockRanges],
      [[{ start: BigInt(start), length: BigInt(length) }]],
    );
    const query = { canisterId, method: 'icrc3_get_blocks', argument };
    return call(signal, async () => ({ ok: blocksIn(await queryReply(agent, query)) }));
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

function entryOf(entry: CandidEntry): JournalEntry {
  const { seq, at, kind, subject, by } = entry;
  const [version] = entry.version;
  const [digest] = entry.digest;
  const { detailsSalt } = entry.proof;
  const [subjectSalt] = entry.proof.subjectSalt;
  const [subjectHash] = entry.proof.subjectHash;
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
      details: detailsOf(entry),
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
 * Returns the details to which a block commits, in hexadecimal digits: kind of the actor, length of
 * its id, id, version in LEB128, length of the digest, digest.
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
