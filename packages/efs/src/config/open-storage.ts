// Opens the service for the caller who reads and stores files, or the owner who manages buckets.

import { join } from 'node:path';
import type { CanisterCode } from '../../../client/src/actor/canister-code.ts';
import type { BucketSecrets } from '../../../client/src/bucket-secrets.ts';
import type { EndToEndLayer } from '../../../client/src/end-to-end.ts';
import { fileStorage } from '../../../client/src/files/file-storage.ts';
import { nodeEndToEnd } from '../../../client/src/node/end-to-end.ts';
import { fileIdentityStore } from '../../../client/src/node/identity-store.ts';
import { nodeSegmentCipher } from '../../../client/src/node/segment-cipher.ts';
import { createNodeServiceStorage, createNodeStorage } from '../../../client/src/node/storage.ts';
import type { ServiceStorageOptions } from '../../../client/src/service-places.ts';
import {
  type ActorStorageOptions,
  actorConnection,
  type Storage,
  type StorageOptions,
} from '../../../client/src/storage.ts';
import type { EndToEndOptions } from '../../../client/src/types/end-to-end.ts';
import type { VolumeMemory } from '../../../client/src/types/service.ts';
import type { StorageIdentity } from '../../../client/src/types/storage-identity.ts';
import { UsageError } from '../output/usage-error.ts';
import { bucketMemory } from './bucket-memories.ts';
import { type Configuration, hasIdentity } from './config.ts';
import { accepting } from './pinned-recipients.ts';
import { configFolder } from './profiles.ts';

export interface WatchedConfiguration extends Configuration {
  readonly onRetry?: StorageOptions['onRetry'];
  readonly retry?: StorageOptions['retry'];
  /** Shared by the storages and secrets of a service of several volumes. */
  readonly volumeMemory?: VolumeMemory | undefined;
}

const unknownService =
  'The address of the service is unknown: set EFS_URL (https://<canister id>.icp.net on the ' +
  'network) and EFS_API_KEY, or run efs profile add, or run in a folder with a local replica.';
const unknownCanister =
  'The canister to call is unknown: set EFS_URL to its address (https://<canister ' +
  'id>.icp.net on the network), or EFS_HOST (https://icp-api.io) and EFS_CANISTER_ID; or run efs ' +
  'profile add, or run in a folder with a local replica.';

/** Opens the storage for files, over the configured transport. */
export async function openStorage(configuration: WatchedConfiguration): Promise<Storage> {
  return open(await fileOptions(configuration), configuration);
}

async function fileOptions(configuration: WatchedConfiguration): Promise<StorageOptions> {
  const { url, host, canisterId, apiKey, isLocalKey, transport } = configuration;
  if (url === undefined && host === undefined) throw new UsageError(unknownService);
  if (transport === 'actor') {
    const isNeeded = !hasIdentity(configuration) || !isLocalKey;
    return actorOptions({ ...configuration, apiKey: isNeeded ? apiKey : undefined });
  }
  if (url === undefined) throw new UsageError(unknownService);
  const { timeoutMs, onRetry } = configuration;
  const common = { url, apiKey, timeoutMs, onRetry };
  return transport === 'http' ? { ...common, transport } : { ...common, canisterId };
}

async function open(
  options: StorageOptions,
  configuration: WatchedConfiguration,
): Promise<Storage> {
  const endToEnd = nodeEndToEnd(await endToEndOptions(configuration));
  const service = serviceOptions(options, configuration);
  if (service === undefined) return createNodeStorage({ ...options, endToEnd });
  return createNodeServiceStorage({ ...service, endToEnd });
}

/**
 * Returns the options for a service of several volumes; undefined for one canister. An API key
 * belongs to the volume of its address.
 */
function serviceOptions(
  options: StorageOptions,
  { front, volumeMemory }: WatchedConfiguration,
): ServiceStorageOptions | undefined {
  if ('url' in options || front === undefined) return undefined;
  const { canisterId: _, linkUrl: __, ...common } = options;
  if (common.identity === undefined && common.apiKey !== undefined) return undefined;
  return { ...common, front, volumeMemory };
}

/** Options for decryption; identities that the network derives are stored beside the profiles. */
async function endToEndOptions(configuration: Configuration): Promise<EndToEndOptions> {
  const { ageIdentity, environment, pinnedRecipients } = configuration;
  const store = fileIdentityStore(join(configFolder(environment), 'identities'));
  const common = {
    ...{ store, cipher: nodeSegmentCipher, memory: bucketMemory(configuration), pinnedRecipients },
    acceptRecipients: accepting(configuration),
  };
  if (ageIdentity === undefined) return common;
  const { loadAgeIdentities } = await import('./age-identities.ts');
  return { ...common, identities: await loadAgeIdentities(ageIdentity, environment) };
}

/** Opens buckets' secrets, as the caller for files or as the identity that manages buckets. */
export async function openSecrets(
  configuration: WatchedConfiguration,
  who: 'files' | 'manager',
): Promise<BucketSecrets> {
  const options = await (who === 'files'
    ? fileOptions(configuration)
    : actorOptions({ ...configuration, apiKey: undefined }));
  const settings = await endToEndOptions(configuration);
  const service = serviceOptions(options, configuration);
  if (service === undefined) {
    const { bucketSecrets } = await import('../../../client/src/bucket-secrets.ts');
    return bucketSecrets(options, settings);
  }
  const { serviceSecrets } = await import('../../../client/src/service-secrets.ts');
  return serviceSecrets(service, settings);
}

/** Opens the storage for managing buckets and keys, which needs an identity and actor calls. */
export async function openManager(configuration: WatchedConfiguration): Promise<Storage> {
  return open(await actorOptions({ ...configuration, apiKey: undefined }), configuration);
}

/** Opens the same for lists, which wait less for a stopped canister than writes do. */
export function openLister(configuration: WatchedConfiguration): Promise<Storage> {
  return openManager({ ...configuration, retry: { stoppedMsMax: 5_000 } });
}

/** Opens the same without encryption: files of end-to-end buckets pass as they are stored. */
export async function openAsStored(configuration: WatchedConfiguration): Promise<Storage> {
  const options = await actorOptions({ ...configuration, apiKey: undefined });
  const endToEnd: EndToEndLayer = (connection) => ({ files: fileStorage(connection) });
  const service = serviceOptions(options, configuration);
  if (service === undefined) return createNodeStorage({ ...options, endToEnd });
  return createNodeServiceStorage({ ...service, endToEnd });
}

/** Opens the storage with the caller's identity, if there is one, otherwise as for files. */
export function openServiceAdmin(configuration: WatchedConfiguration): Promise<Storage> {
  const { host, canisterId } = configuration;
  const isKnown = host !== undefined && canisterId !== undefined && hasIdentity(configuration);
  return isKnown ? openManager(configuration) : openStorage(configuration);
}

async function actorOptions(configuration: WatchedConfiguration): Promise<ActorStorageOptions> {
  const { url, host, canisterId, apiKey, timeoutMs, onRetry, retry } = configuration;
  if (host === undefined || canisterId === undefined) throw new UsageError(unknownCanister);
  const identity = await identityOf(configuration);
  return { host, canisterId, identity, apiKey, linkUrl: url, timeoutMs, onRetry, retry };
}

const managementCanister = 'aaaaa-aa';

/** Opens the calls by which controllers manage canisters; a service need not exist yet. */
export async function openCode(configuration: WatchedConfiguration): Promise<CanisterCode> {
  if (configuration.host === undefined) {
    throw new UsageError(
      'The network is unknown: pass --host https://icp-api.io, or run in a folder with a local ' +
        'replica.',
    );
  }
  const canisterId = configuration.canisterId ?? managementCanister;
  const options = await actorOptions({ ...configuration, canisterId, apiKey: undefined });
  if (options.identity === undefined) {
    throw new UsageError(
      'Only controllers manage canisters: pass --identity, or add a profile with an identity.',
    );
  }
  const { openCanisterCode } = await import('../../../client/src/actor/canister-code.ts');
  return openCanisterCode(actorConnection(options));
}

/** Loads the identity, and with it the agent, which takes a quarter of a second. */
async function identityOf(configuration: Configuration): Promise<StorageIdentity | undefined> {
  if (!hasIdentity(configuration)) return undefined;
  const { loadIdentity } = await import('./load-identity.ts');
  return (await loadIdentity(configuration)).identity;
}
