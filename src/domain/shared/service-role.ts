// The canister's role in a service: a volume stores files, and a front serves the console and lists
// its volumes. A volume without a front is a whole service. Canister ids are texts here.

import { gatewayDomains } from '../../../packages/wire/src/gateways.ts';

export interface Front {
  readonly id: string;
  /** Its address at a gateway, without a final slash. */
  readonly url: string;
}

/** The address of a canister at the network's default gateway. */
export function networkUrl(canisterId: string): string {
  return `https://${canisterId}.${gatewayDomains[0]}`;
}

const localOrigin = /http:\/\/([a-z0-9-]+)\.localhost(?::\d{1,5})?$/y;

/**
 * Whether the origin is the canister's own at a known gateway or at a local network. No other
 * canister can serve anything there.
 */
export function isOriginOf(canisterId: string, origin: string): boolean {
  if (gatewayDomains.some((domain) => origin === `https://${canisterId}.${domain}`)) return true;
  localOrigin.lastIndex = 0;
  return localOrigin.exec(origin)?.[1] === canisterId;
}

/** Returns the volume's origin at the gateway of its front, or at the default one. */
export function originOfVolume(volumeId: string, { id, url }: Front): string {
  const origin = url.replace(`//${id}.`, `//${volumeId}.`);
  return isOriginOf(volumeId, origin) ? origin : networkUrl(volumeId);
}

export interface VolumeRole {
  readonly kind: 'volume';
  /** Id of the volume itself. */
  readonly id: string;
  readonly front: Front | undefined;
}

export interface FrontRole {
  readonly kind: 'front';
  /** Id of the front itself. */
  readonly id: string;
  readonly volumes: readonly string[];
}

export type ServiceRole = VolumeRole | FrontRole;
