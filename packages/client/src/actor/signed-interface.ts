// Reads the interface and the code of a service in a certificate of the network.

import { CanisterStatus } from '@icp-sdk/core/agent';
import { Principal } from '@icp-sdk/core/principal';
import { StorageError } from '../storage-error.ts';
import type { ServiceCode } from '../types/service.ts';
import type { Service } from './connection.ts';
import { explained } from './failures.ts';
import { commitSection } from './module-metadata.ts';

/** Throws Unsupported if the canister has no code. */
export async function signedCode(service: Service): Promise<ServiceCode> {
  const { agent } = service;
  const canisterId = Principal.fromText(service.canisterId);
  const paths = ['module_hash', 'controllers'] as const;
  const commitPath = {
    kind: 'metadata',
    key: 'commit',
    path: commitSection,
    decodeStrategy: 'utf-8',
  } as const;
  const asked = CanisterStatus.request({ agent, canisterId, paths: [...paths, commitPath] });
  const found = await explained(service, asked);
  const [hash, controllers] = paths.map((path) => found.get(path));
  if (typeof hash !== 'string') {
    throw new StorageError('Unsupported', `The canister ${service.canisterId} has no code.`);
  }
  const named = (controllers ?? []) as Principal[];
  return {
    moduleHash: hash,
    controllers: named.map((principal) => principal.toText()),
    commit: (found.get('commit') as string | null) ?? undefined,
  };
}

/**
 * Returns which of the methods the service lacks; none if it publishes no interface. A node's
 * refusal of an unknown method is not signed by the network and could be forged, so the signed
 * interface of the service decides.
 */
export async function lackedMethods(
  service: Service,
  methods: readonly string[],
): Promise<readonly string[]> {
  const { agent } = service;
  const canisterId = Principal.fromText(service.canisterId);
  const asked = CanisterStatus.request({ agent, canisterId, paths: ['candid'] });
  const text = (await explained(service, asked)).get('candid');
  if (typeof text !== 'string') return [];
  const declared = new Set(Array.from(text.matchAll(/\b(\w+) *: *\(/g), ([, name]) => name));
  return methods.filter((method) => !declared.has(method));
}
