// The canisters behind this page. A front serves the page from an address at which every answer is
// certified, and its volume stores the files. A volume without a front serves the page itself. One
// node could then replace the page, so the page stores no end-to-end secrets there.

import {
  addressBeside,
  isLoopback,
  networkAgentHost,
} from '../../packages/client/src/connection/canister-address.ts';
import { findCanister } from '../../packages/client/src/connection/find-canister.ts';
import { onDemand } from '../../packages/client/src/connection/on-demand.ts';
import { loadedTexts } from './language.ts';

export interface Service {
  /** The canister that stores the files. */
  readonly canisterId: string;
  /** Address of that canister at a gateway; without a front the origin of this page. */
  readonly url: string;
  /** Whether a front serves this page. */
  readonly isAtFront: boolean;
  readonly frontId?: string | undefined;
}

export function isLocal(): boolean {
  return isLoopback(location.origin);
}

export function serviceHost(): string {
  return isLocal() ? location.origin : networkAgentHost;
}

export const thisService: () => Promise<Service> = onDemand(findService);

/** The text of `/.well-known/efs-service`, which older services do not have. */
interface ServiceText {
  readonly role?: unknown;
  /** Id of the front. */
  readonly canisterId?: string;
  readonly volumes?: readonly { readonly canisterId: string }[];
}

async function findService(): Promise<Service> {
  const response = await fetch('/.well-known/efs-service');
  const text: ServiceText = response.ok ? await response.json() : {};
  if (text.role !== 'front') {
    const canisterId = await findCanister(location.origin);
    return { canisterId, url: location.origin, isAtFront: false };
  }
  const [volume] = text.volumes ?? [];
  if (volume === undefined) throw new Error((await loadedTexts()).failures.noVolume);
  const { canisterId } = volume;
  const url = addressBeside(location.origin, canisterId);
  return { canisterId, url, isAtFront: true, frontId: text.canisterId };
}
