// The canisters behind this page. A front serves the page from an address at which every answer is
// certified, and its volumes store the files. A volume without a front serves the page itself. One
// node could then replace the page, so the page stores no end-to-end secrets there.

import {
  addressBeside,
  isLoopback,
  networkAgentHost,
} from '../../packages/client/src/connection/canister-address.ts';
import { findCanister } from '../../packages/client/src/connection/find-canister.ts';
import { onDemand } from '../../packages/client/src/connection/on-demand.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import { loadedTexts } from './language.ts';

export interface Service {
  /** The canister that serves this page and stores the files; the first volume of a front. */
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

async function readServiceText(): Promise<ServiceText> {
  const response = await fetch('/.well-known/efs-service').catch((cause) => {
    const words = 'The front was not reached.';
    throw new StorageError('NetworkError', words, { cause, isRetryable: true });
  });
  return response.ok ? response.json() : {};
}

async function findService(): Promise<Service> {
  const text = await readServiceText();
  if (text.role !== 'front') {
    const canisterId = await findCanister(location.origin);
    return { canisterId, url: location.origin, isAtFront: false };
  }
  const [canisterId] = await idsIn(text);
  return { canisterId, url: volumeAddress(canisterId), isAtFront: true, frontId: text.canisterId };
}

async function idsIn({ volumes = [] }: ServiceText): Promise<[string, ...string[]]> {
  const [first, ...others] = volumes.map(({ canisterId }) => canisterId);
  if (first === undefined) throw new Error((await loadedTexts()).failures.noVolume);
  return [first, ...others];
}

/** Returns the front's volumes now: the text is certified like the page itself. */
export async function volumeIds(): Promise<readonly string[]> {
  return idsIn(await readServiceText());
}

/** Returns the address of a front's volume at this page's gateway. */
export function volumeAddress(canisterId: string): string {
  return addressBeside(location.origin, canisterId);
}
