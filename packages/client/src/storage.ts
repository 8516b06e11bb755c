// The client's entrance: `createStorage()` for Node and browsers alike. Imports nothing of Node;
// the agent's library is loaded when it is needed.

import { lazyTransport } from './actor/lazy-transport.ts';
import {
  type Buckets,
  bucketsOf,
  type Keys,
  keysOf,
  type WellKnown,
  wellKnownOf,
} from './administration/buckets-and-keys.ts';
import {
  type Access,
  accessOf,
  type Rotation,
  rotationOf,
} from './administration/creators-and-rotation.ts';
import type { Issuer } from './age/bucket-keys.ts';
import { isNetwork } from './connection/canister-address.ts';
import { defaultRetryPolicy } from './connection/retry.ts';
import type { Transport } from './connection/transport.ts';
import { endToEnd } from './end-to-end.ts';
import { type FileStorage, fileStorage } from './files/file-storage.ts';
import { withoutLastSlashes } from './http/paths.ts';
import {
  type CommonOptions,
  connectionOver,
  exchangeOptions,
  type HttpStorageOptions,
  httpTransport,
} from './http-storage.ts';
import type { StorageIdentity } from './types/storage-identity.ts';

/** By calls of the actor: a host of the network's agent endpoints. */
export interface ActorStorageOptions extends CommonOptions {
  readonly host: string;
  readonly canisterId: string;
  /** Signs the calls; anonymous without one. */
  readonly identity?: StorageIdentity | undefined;
  /** Ask the host for its root key, as a local replica's: true for localhost unless told. */
  readonly fetchRootKey?: boolean | undefined;
  /** The gateway's address of the canister, for links: else that which follows from the host. */
  readonly linkUrl?: string | undefined;
}

export type StorageOptions = HttpStorageOptions | ActorStorageOptions;

export interface Storage extends FileStorage {
  /** By the actor only; over HTTP every call is refused with Unsupported. */
  readonly buckets: Buckets;
  readonly keys: Keys;
  /** Texts at `/.well-known/{name}`, for controllers. */
  readonly wellKnown: WellKnown;
  /** Who may create buckets, and what nobody's requests may cost: for controllers. */
  readonly access: Access;
  /** New keys in place of those that encrypt. */
  readonly rotation: Rotation;
}

export function createStorage(options: StorageOptions): Storage {
  const connection = connectionOver(transportOf(options), options);
  // Over HTTP a bucket's mode is told by an update, some seconds: for who asks for it.
  const layer = options.endToEnd ?? ('url' in options ? undefined : endToEnd());
  return {
    ...(layer?.(connection, issuerOf(options)) ?? fileStorage(connection)),
    buckets: bucketsOf(connection),
    keys: keysOf(connection),
    wellKnown: wellKnownOf(connection),
    access: accessOf(connection),
    rotation: rotationOf(connection),
  };
}

/** Who asks for identities of buckets: whoever signs calls. */
export function issuerOf(options: StorageOptions): Issuer | undefined {
  if ('url' in options || options.identity === undefined) return undefined;
  const { canisterId, host, fetchRootKey } = options;
  return {
    canisterId,
    canisterBytes: async () => {
      const { Principal } = await import('@icp-sdk/core/principal');
      return Principal.fromText(canisterId).toUint8Array();
    },
    isOnNetwork: isNetwork(host) && fetchRootKey !== true,
  };
}

export function transportOf(options: StorageOptions): Transport {
  if ('url' in options) return httpTransport(options);
  const { host, canisterId, identity, fetchRootKey, apiKey, linkUrl } = options;
  const caller = { identity, fetchRootKey, apiKey };
  const retryPolicy = { ...defaultRetryPolicy, ...options.retry };
  const service = { host, canisterId, ...caller, retryPolicy };
  const transport = lazyTransport({ ...service, ...exchangeOptions(options) });
  return linkUrl === undefined
    ? transport
    : { ...transport, linkBase: withoutLastSlashes(linkUrl) };
}
