// Reads the interface of a service in a certificate of the network.

import { CanisterStatus } from '@icp-sdk/core/agent';
import { Principal } from '@icp-sdk/core/principal';
import type { Service } from './connection.ts';
import { explained } from './failures.ts';

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
