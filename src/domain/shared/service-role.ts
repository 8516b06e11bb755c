// The canister's role in a service: a volume stores files, and a front serves the console and lists
// its volumes. A volume without a front is a whole service. Canister ids are texts here.

export interface Front {
  readonly id: string;
  /** Its address at a gateway, without a final slash. */
  readonly url: string;
}

/** The address of a canister at the network's default gateway. */
export function networkUrl(canisterId: string): string {
  return `https://${canisterId}.icp.net`;
}

export interface VolumeRole {
  readonly kind: 'volume';
  /** Id of the volume itself; '' until it has had a front. */
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
