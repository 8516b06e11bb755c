// The canister's role in a service: a volume stores files, and a front serves the console and lists
// its volumes. A volume without a front is a whole service. Canister ids are texts here.

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
  /** The id of the front itself. */
  readonly id: string;
  readonly volumes: readonly string[];
}

export type ServiceRole = VolumeRole | FrontRole;
