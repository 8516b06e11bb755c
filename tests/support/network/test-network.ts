// A network for one test file, driven by the network interface: the local replica in this process,
// without a server, or a network elsewhere (judged-service.ts).

import { HttpAgent } from '@icp-sdk/core/agent';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';
import { newIdentity } from '../../../scripts/local-service.ts';
import { isJudged } from './elsewhere.ts';
import { openJudgedNetwork } from './judged-service.ts';
import type { NetworkInterface } from './network-interface.ts';
import { networkInProcess } from './replica-network.ts';

export interface TestNetwork {
  readonly network: NetworkInterface;
  /** PEM of the owner's key. */
  readonly identityPem: string;
  /** DER. */
  readonly rootKey: Uint8Array;
  /** The local replica, if it is in this process. */
  readonly replica: Replica | undefined;
  stop(): Promise<void>;
}

export async function openTestNetwork(): Promise<TestNetwork> {
  return isJudged ? openElsewhere() : openHere();
}

async function openHere(): Promise<TestNetwork> {
  const replica = await startReplica({ server: false });
  const identityPem = newIdentity();
  const network = networkInProcess(replica, identityPem);
  return { network, identityPem, rootKey: replica.rootKey, replica, stop: () => replica.stop() };
}

async function openElsewhere(): Promise<TestNetwork> {
  const { host, network, identityPem, close } = await openJudgedNetwork();
  const agent = await HttpAgent.create({ host });
  const rootKey = await agent.fetchRootKey();
  return { network, identityPem, rootKey, replica: undefined, stop: close };
}

/** For tests that elsewhere are skipped (elsewhere.ts). */
export function ownReplica({ replica }: Pick<TestNetwork, 'replica'>): Replica {
  if (replica === undefined) throw new Error('The test needs our replica in this process.');
  return replica;
}
