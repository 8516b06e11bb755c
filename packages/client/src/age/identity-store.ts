// The default identity store.

import type { IdentityStore } from '../types/end-to-end.ts';

/** Returns a store in memory, which lasts as long as the program. */
export function memoryIdentityStore(): IdentityStore {
  const secrets = new Map<string, Uint8Array>();
  return {
    get: async (name) => secrets.get(name),
    async set(name, secret) {
      secrets.set(name, secret);
    },
  };
}
