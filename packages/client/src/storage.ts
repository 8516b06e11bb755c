// `createStorage()` for Node and browsers; loads the agent with the first call that needs it.

import { chunkBytesMax } from '../../wire/src/limits.ts';
import type { ActorConnection } from './actor/connection.ts';
import { lazyCalls, lazyTransport } from './actor/lazy-transport.ts';
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
  codeOf,
  type Rotation,
  rotationOf,
} from './administration/creators-and-rotation.ts';
import { type Journal, journalOf } from './administration/journal.ts';
import { type BucketRules, rulesOf } from './administration/rules.ts';
import { type Subscriptions, subscriptionsOf } from './administration/subscriptions.ts';
import type { Issuer } from './age/bucket-keys.ts';
import { isLoopback, isNetwork, networkAgentHost } from './connection/canister-address.ts';
import { canisterAt, unnamed } from './connection/find-canister.ts';
import { onDemand } from './connection/on-demand.ts';
import { defaultRetryPolicy } from './connection/retry.ts';
import type { Transport } from './connection/transport.ts';
import { fetchWhole } from './connection/watched-fetch.ts';
import { endToEnd } from './end-to-end.ts';
import { type FileStorage, fileStorage } from './files/file-storage.ts';
import { folderLinksOf } from './folder-links.ts';
import {
  type CommonOptions,
  connectionOver,
  exchangeOptions,
  type HttpStorageOptions,
  httpTransport,
} from './http-storage.ts';
import { operationRows } from './operations/table.ts';
import { isCrossOrigin, withoutLastSlashes } from './operations/url-paths.ts';
import type { Checks } from './signed-writes.ts';
import { isStorageError } from './storage-error.ts';
import type { FolderLinks } from './types/folder-links.ts';
import type { ServiceCode } from './types/service.ts';
import type { StorageIdentity } from './types/storage-identity.ts';

/** Options for the actor: `host` is an agent endpoint of the network or of a local replica. */
export interface ActorStorageOptions extends CommonOptions {
  readonly host: string;
  readonly canisterId: string;
  /** Signs the calls; without it they are anonymous. */
  readonly identity?: StorageIdentity | undefined;
  /**
   * Fetches the host's root key, as a local replica requires; true by default for localhost.
   *
   * @example
   * ```ts
   * import { createStorage } from '@encrypted-file-storage/client';
   *
   * const local = createStorage({
   *   host: 'http://localhost:4943',
   *   canisterId: '<canister id>',
   *   fetchRootKey: true,
   * });
   * console.log((await local.status()).version);
   * ```
   */
  readonly fetchRootKey?: boolean | undefined;
  /**
   * The gateway's address of the canister, for links; derived from the host by default.
   *
   * @example
   * ```ts
   * import { createStorage } from '@encrypted-file-storage/client';
   *
   * const atOwnDomain = createStorage({
   *   host: 'https://icp-api.io',
   *   canisterId: '<canister id>',
   *   apiKey: '<API key>',
   *   linkUrl: 'https://files.example.com',
   * });
   * console.log((await atOwnDomain.links.create({ bucket: 'demo', path: 'notes/hello.txt' })).url);
   * ```
   */
  readonly linkUrl?: string | undefined;
}

/** Options for a gateway's address, whose canister the client finds and calls for writes. */
export interface UrlStorageOptions extends HttpStorageOptions {
  /**
   * `http` sends writes over HTTP too, where one node can claim that a file was stored or deleted.
   *
   * @example
   * ```ts
   * import { createStorage } from '@encrypted-file-storage/client';
   *
   * const url = 'https://<canister id>.icp.net';
   * const overHttp = createStorage({ url, apiKey: '<API key>', transport: 'http' });
   * console.log((await overHttp.status()).version);
   * ```
   */
  readonly transport?: 'http' | undefined;
  /**
   * The canister at `url`; by default the id in the address, or else the id that the gateway
   * returns.
   */
  readonly canisterId?: string | undefined;
}

export type StorageOptions = UrlStorageOptions | ActorStorageOptions;

export interface Storage extends FileStorage {
  /** Requires the actor; over HTTP every call fails with Unsupported. */
  readonly buckets: Buckets;
  readonly keys: Keys;
  /** Links to folders. */
  readonly folderLinks: FolderLinks;
  readonly rules: BucketRules;
  /** Manages the texts at `/.well-known/{name}`; requires a controller. */
  readonly wellKnown: WellKnown;
  /** Manages the right to create buckets, and the budgets of requests; requires a controller. */
  readonly access: Access;
  /** Replaces encryption keys. */
  readonly rotation: Rotation;
  /** Reads and verifies the record of all changes; requires the actor. */
  readonly journal: Journal;
  readonly subscriptions: Subscriptions;
  /**
   * Returns the SHA-256 of the service's code and its controllers, from a certificate of the
   * network. Requires the actor, but no right.
   *
   * @example
   * ```ts
   * const { moduleHash, controllers } = await storage.code();
   * console.log(moduleHash, controllers);
   * ```
   */
  code(): Promise<ServiceCode>;
}

/**
 * Returns the client of one service. With `url` it reads over HTTP through a gateway, and writes,
 * deletes and makes links by calls of the actor, whose replies the network signs; with `host` and
 * `canisterId` it only calls the actor, which also manages buckets, keys and encryption. Writes go
 * over HTTP, where one node can falsely confirm them, if `transport` is `http`, if a gateway does
 * not name its canister, and at a plain `http:` address of another machine. In a page of another
 * origin, `url` reads public files over HTTP and calls the actor for the rest: not every gateway
 * lets such a page send a key.
 *
 * @example
 * ```ts
 * import { createStorage } from '@encrypted-file-storage/client';
 *
 * const storage = createStorage({ url: 'https://<canister id>.icp.net', apiKey: '<API key>' });
 * await storage.upload(new Blob(['hello']), { bucket: 'demo', path: 'notes/hello.txt' });
 * ```
 */
export function createStorage(options: StorageOptions): Storage {
  const connection = connectionOver(transportOf(options), options);
  // Over HTTP, asking for a mode takes an update (seconds), so only callers with `endToEnd` wait
  // for it.
  const layer = options.endToEnd ?? ('url' in options ? undefined : endToEnd());
  const layered = layer?.(connection, issuerOf(options));
  return {
    ...(layered?.files ?? fileStorage(connection)),
    buckets: bucketsOf(connection, layered?.forget),
    keys: keysOf(connection),
    folderLinks: folderLinksOf(connection, layered?.sealing),
    rules: rulesOf(connection),
    wellKnown: wellKnownOf(connection),
    access: accessOf(connection),
    rotation: rotationOf(connection),
    journal: journalOf(connection, layered?.openerOf),
    subscriptions: subscriptionsOf(connection),
    code: codeOf(connection),
  };
}

/** Returns the issuer of bucket identities; undefined for callers that do not sign. */
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
  if (!('url' in options)) return actorTransport(options);
  const { url, transport } = options;
  const http = httpTransport(options);
  if (!isLoopback(url) && !isHttps(url)) return http;
  const findId = onDemand(async () => options.canisterId ?? canisterBehind(url, options));
  const actor = actorBehind(options, async () => {
    const id = await findId();
    if (id === undefined) throw unnamed(url);
    return id;
  });
  const { verifier, getCertifiedFile } = actor;
  const verifiable = { ...http, verifier, getCertifiedFile };
  if (transport === 'http') return verifiable;
  if (isCrossOrigin(url)) return crossOriginTransport(options, actor);
  const findWriter = async () => ((await findId()) === undefined ? http : actor);
  const open = onDemand(async () => {
    const { signedWrites } = await import('./signed-writes.ts');
    return signedWrites({ http: verifiable, checks: operationRows as Checks, findWriter });
  });
  return {
    ...verifiable,
    wholeFileBytesMax: chunkBytesMax,
    hasOneRound: true,
    ...lazyCalls(open),
  };
}

/**
 * Finds the canister's id with the storage's fetch; undefined if the gateway does not return it.
 */
function canisterBehind(url: string, options: CommonOptions): Promise<string | undefined> {
  const connection = exchangeOptions(options);
  return canisterAt(url, async (_, init) => {
    const { status, headers, bytes } = await fetchWhole(connection, url, init ?? {});
    return new Response(bytes.length > 0 ? (bytes as BodyInit) : null, { status, headers });
  });
}

/**
 * Calls the canister behind a gateway's address without an identity; the first call finds the id.
 */
function actorBehind({ url, ...options }: HttpStorageOptions, findId: () => Promise<string>) {
  // The first request reports a malformed address.
  const host = URL.canParse(url) ? agentHostOf(url) : url;
  const found = { host, canisterId: '', fetchRootKey: isLoopback(url), linkUrl: url };
  return actorTransport({ ...options, ...found }, findId);
}

/**
 * Returns the network's host for every https address, because a custom domain may not serve agents.
 * An http address of another machine belongs to a network whose root key is unknown.
 */
function agentHostOf(url: string): string {
  return isHttps(url) && !isLoopback(url) ? networkAgentHost : new URL(url).origin;
}

function isHttps(url: string): boolean {
  return url.startsWith('https:');
}

/** Returns how the actor is reached and called. */
export function actorConnection(options: ActorStorageOptions): ActorConnection {
  const { host, canisterId, identity, fetchRootKey, apiKey } = options;
  const caller = { identity, fetchRootKey, apiKey };
  const retryPolicy = { ...defaultRetryPolicy, ...options.retry };
  return { host, canisterId, ...caller, retryPolicy, ...exchangeOptions(options) };
}

function actorTransport(options: ActorStorageOptions, findId?: () => Promise<string>): Transport {
  const { linkUrl } = options;
  const transport = lazyTransport(actorConnection(options), findId);
  return linkUrl === undefined
    ? transport
    : { ...transport, linkBase: withoutLastSlashes(linkUrl) };
}

/**
 * Returns the transport for pages of other origins. It reads public files by plain GETs and calls
 * the actor for everything else, because a gateway that answers OPTIONS itself lets no page of
 * another origin send a key over HTTP, or see entity tags.
 */
function crossOriginTransport(options: HttpStorageOptions, actor: Transport): Transport {
  const http = httpTransport({ ...options, apiKey: undefined });
  return {
    ...actor,
    opensWithBytes: true,
    async openFile(file, signal) {
      if (file.version !== undefined) return actor.openFile(file, signal);
      const opened = await http.openFile(file, signal).catch(unlessMissing);
      // A gateway may hide the entity tag, which verifies the bytes.
      return opened?.etag ? opened : actor.openFile(file, signal);
    },
    readPart: (part, signal) => (part.isAnonymous ? http : actor).readPart(part, signal),
  };
}

/** Without a key, files of private buckets return 404. */
function unlessMissing(error: unknown): undefined {
  if (!isStorageError(error, 'NoSuchFile')) throw error;
}
