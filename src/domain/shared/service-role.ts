// The canister's part in a service: a volume stores files, and a front serves the console and names
// its volumes. A volume without a front is a service by itself. Ids of canisters are texts here.

export interface Front {
  readonly id: string;
  /** Its address at a gateway, without a final slash. */
  readonly url: string;
}

export interface VolumeRole {
  readonly kind: 'volume';
  readonly front: Front | undefined;
}

export interface FrontRole {
  readonly kind: 'front';
  /** The front's own. */
  readonly id: string;
  readonly volumes: readonly string[];
}

export type ServiceRole = VolumeRole | FrontRole;
