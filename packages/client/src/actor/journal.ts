// Reads the journal through actor calls: entries, blocks with their hashes, and the certified end.

import { LookupPathStatus, lookup_path } from '@icp-sdk/core/agent';
import { IDL, lebDecode, PipeArrayBuffer } from '@icp-sdk/core/candid';
import { encodeHex } from '../bytes/bytes.ts';
import type { AdministrationOperations } from '../operations/administration.ts';
import { StorageError } from '../storage-error.ts';
import type { JournalTip } from '../types/journal.ts';
import { type ActorCalls, calling } from './actor-call.ts';
import { methodTypes } from './candid-interface.ts';
import { optionals } from './candid-records.ts';
import { call, type Service } from './connection.ts';
import { pageIn } from './journal-page.ts';
import { queryReply } from './large-query.ts';
import { provenTree } from './proven-tree.ts';

const BlockRanges = IDL.Vec(IDL.Record({ start: IDL.Nat, length: IDL.Nat }));

type JournalOperations = Pick<
  AdministrationOperations,
  'readJournal' | 'keepJournal' | 'redactEntries' | 'getJournalTip' | 'getJournalBlocks'
>;

export const journalCalls: ActorCalls<JournalOperations> = {
  async readJournal({ agent, canisterId }, { bucket, after, before, limit }, signal) {
    const request = { bucketId: bucket, apiKey: [], ...optionals({ after, before, limit }) };
    const argument = IDL.encode(methodTypes('readJournal').argTypes, [request]);
    const query = { canisterId, method: 'readJournal', argument };
    return call(signal, async () => pageIn(await queryReply(agent, query)));
  },
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
    const { blocksIn } = await import('./journal-blocks.ts');
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
