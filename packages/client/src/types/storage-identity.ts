// Who signs, as programs hand it over: from the agent's current line, `@icp-sdk/core`, or from
// `@dfinity/agent` before it. Both sign alike, but to TypeScript their classes are strangers.

import type { Identity } from '@icp-sdk/core/agent';

/** An identity of `@icp-sdk/core` or of `@dfinity/agent`. */
export interface StorageIdentity {
  getPrincipal(): { toText(): string; toUint8Array(): Uint8Array };
  transformRequest(request: never): Promise<unknown>;
}

/** The same, to the agent's types. */
export function agentIdentity(identity: StorageIdentity): Identity {
  return identity as unknown as Identity;
}
