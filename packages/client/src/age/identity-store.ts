// Where a client keeps what the network has derived for it, since each derivation costs the service
// 26 G cycles and ten an hour are all that a principal gets.

/** Names have letters, digits and hyphens. Whoever reads the secrets reads the buckets. */
export interface IdentityStore {
  /** 48 bytes; undefined when there is none of that name. */
  get(name: string): Promise<Uint8Array | undefined>;
  set(name: string, secret: Uint8Array): Promise<void>;
}

/** Gone with the program. */
export function memoryIdentityStore(): IdentityStore {
  const secrets = new Map<string, Uint8Array>();
  return {
    get: async (name) => secrets.get(name),
    async set(name, secret) {
      secrets.set(name, secret);
    },
  };
}
