// Identities of the caller's program come from `@icp-sdk/core` or from its predecessor
// `@dfinity/agent`. Both sign alike, but TypeScript treats their classes as unrelated.

import type { Identity } from '@icp-sdk/core/agent';

/** An identity of `@icp-sdk/core` or of `@dfinity/agent`. */
export interface StorageIdentity {
  getPrincipal(): { toText(): string; toUint8Array(): Uint8Array };
  transformRequest(request: never): Promise<unknown>;
}

export function agentIdentity(identity: StorageIdentity): Identity {
  return identity as unknown as Identity;
}
