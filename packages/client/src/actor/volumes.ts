// The list of a front's volumes, from a certificate of the network: a single node that could add a
// volume would receive files and keys.

import { LookupPathStatus, lookup_path } from '@icp-sdk/core/agent';
import { Principal } from '@icp-sdk/core/principal';
import { canisterAddress, isNetwork } from '../connection/canister-address.ts';
import { StorageError } from '../storage-error.ts';
import type { ServiceVolume, VolumeChange } from '../types/service.ts';
import { accessChangeOf } from './administration.ts';
import { optional } from './candid-records.ts';
import { type ActorConnection, call, openService, type Service } from './connection.ts';
import { provenTree } from './proven-tree.ts';

/** Calls of a front about its volumes. */
export interface VolumeCalls {
  list(): Promise<readonly ServiceVolume[]>;
  add(volume: string): Promise<void>;
  change(volume: string, change: VolumeChange): Promise<void>;
  remove(volume: string): Promise<void>;
}

/** `connection` is that of the front. */
export async function openVolumeCalls(connection: ActorConnection): Promise<VolumeCalls> {
  const front = await openService(connection);
  const { actor } = front;
  return {
    async list() {
      const proof = await call(undefined, () => actor.getVolumeProof());
      return volumesIn(await provenList(front, proof));
    },
    async add(volume) {
      const id = principalOf(volume);
      const { host, canisterId } = connection;
      const joined = await openService({ ...connection, canisterId: volume });
      await passOnCreators(joined, front);
      await call(undefined, () => actor.addVolume(id));
      const url = isNetwork(host) ? undefined : canisterAddress({ host, canisterId });
      const setting = { front: principalOf(canisterId), url: optional(url) };
      await call(undefined, () => joined.actor.setFront([setting]));
    },
    async change(volume, { isClosed, limitBytes }) {
      const limit = limitBytes === undefined ? undefined : BigInt(limitBytes);
      const fields = { isClosed: optional(isClosed), limitBytes: optional(limit) };
      await call(undefined, () => actor.updateVolume({ volume: principalOf(volume), ...fields }));
    },
    async remove(volume) {
      await call(undefined, () => actor.removeVolume(principalOf(volume)));
    },
  };
}

/** Allows those who may create buckets at a volume to create them at its new front. */
async function passOnCreators(volume: Service, front: Service): Promise<void> {
  const creators = await call(undefined, () => volume.actor.updateAccess(accessChangeOf({})));
  if (creators.length === 0) return;
  const allow = creators.map((creator) => creator.toText());
  await call(undefined, () => front.actor.updateAccess(accessChangeOf({ allow })));
}

/** Fails if the text is not the id of a canister. */
export function principalOf(text: string): Principal {
  try {
    return Principal.fromText(text);
  } catch (cause) {
    const words = `${JSON.stringify(text)} is not the id of a canister.`;
    throw new StorageError('InvalidArgument', words, { cause });
  }
}

/** Returns the value at the label `volumes` of a tree whose root the certificate contains. */
async function provenList(
  service: Service,
  proof: Parameters<typeof provenTree>[1],
): Promise<Uint8Array> {
  const failed = (cause?: unknown) => untrusted(service.canisterId, cause);
  const found = lookup_path(['volumes'], await provenTree(service, proof, failed));
  if (found.status === LookupPathStatus.Found) return found.value;
  throw failed();
}

function untrusted(front: string, cause?: unknown): StorageError {
  return new StorageError(
    'Untrusted',
    `A node's list of the volumes of the front ${front} is not the one that the network has ` +
      'signed: try again.',
    { isRetryable: true, cause },
  );
}

interface ListedVolume {
  readonly canisterId: string;
  readonly state: string;
  readonly reportedAt: string | null;
  readonly stableBytes: number;
  readonly limitBytes: number;
  readonly reservedCycles: number;
}

function volumesIn(list: Uint8Array): readonly ServiceVolume[] {
  const { volumes } = JSON.parse(new TextDecoder().decode(list)) as {
    readonly volumes: readonly ListedVolume[];
  };
  return volumes.map(({ reportedAt, ...volume }) => ({
    ...volume,
    reportedAt: reportedAt ?? undefined,
  }));
}
