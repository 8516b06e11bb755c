// Clients of the canister by both official agents, with the agents' default verification.

import { Actor, HttpAgent, type HttpAgentOptions } from '@dfinity/agent';
import { IDL } from '@dfinity/candid';
import { Actor as CoreActor, HttpAgent as CoreAgent } from '@icp-sdk/core/agent';
import { IDL as CoreIDL } from '@icp-sdk/core/candid';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { type UploadActor, uploadInterface } from './candid-interface.ts';
import { ed25519Seed } from './owner-key.ts';
import type { Service } from './service.ts';

export type AgentName = '@dfinity/agent' | '@icp-sdk/core';

/** Signs as the owner of the service, or not at all (anonymous). */
export async function openActor(
  service: Pick<Service, 'host' | 'canisterId' | 'identityPem'>,
  options: { readonly agent: AgentName; readonly asOwner: boolean },
): Promise<UploadActor> {
  const { host, canisterId } = service;
  const identity = options.asOwner ? ownerIdentity(service) : undefined;
  const agentOptions = { host, shouldFetchRootKey: true, ...(identity && { identity }) };
  if (options.agent === '@dfinity/agent') {
    // The older agent accepts the newer one's identity, because both sign by the same method.
    const agent = await HttpAgent.create(agentOptions as unknown as HttpAgentOptions);
    return Actor.createActor<UploadActor>(() => uploadInterface(IDL), { agent, canisterId });
  }
  const agent = await CoreAgent.create(agentOptions);
  const factory = () => uploadInterface(CoreIDL as unknown as typeof IDL) as never;
  return CoreActor.createActor<UploadActor>(factory, { agent, canisterId });
}

function ownerIdentity(service: Pick<Service, 'identityPem'>): Ed25519KeyIdentity {
  return Ed25519KeyIdentity.fromSecretKey(ed25519Seed(service.identityPem));
}
