// Where the service is and who calls it. Each is taken from the first that tells it: a flag, the
// environment, and then one service whole: the profile that is named, a local replica, the profile
// in use. Secrets of that one go to its own address alone.

import { join } from 'node:path';
import type { BucketSecrets } from '../../../client/src/bucket-secrets.ts';
import { isNetwork, networkAgentHost } from '../../../client/src/connection/canister-address.ts';
import { canisterIdIn } from '../../../client/src/connection/canister-id.ts';
import { withoutLastSlashes } from '../../../client/src/http/paths.ts';
import { nodeEndToEnd } from '../../../client/src/node/end-to-end.ts';
import { fileIdentityStore } from '../../../client/src/node/identity-store.ts';
import { nodeSegmentCipher } from '../../../client/src/node/segment-cipher.ts';
import { createNodeStorage } from '../../../client/src/node/storage.ts';
import type { Storage, StorageOptions } from '../../../client/src/storage.ts';
import type { EndToEndOptions } from '../../../client/src/types/end-to-end.ts';
import type { StorageIdentity } from '../../../client/src/types/storage-identity.ts';
import { UsageError } from '../output/usage-error.ts';
import { recallSecret, systemKeyring } from './keyring.ts';
import { type FoundReplica, findReplica } from './local-replica.ts';
import {
  configFolder,
  type Environment,
  homeOf,
  type Profile,
  profileNamed,
  readProfiles,
  warningOf,
} from './profiles.ts';

/** Flags of every command, as commander gives them. */
export interface GlobalOptions {
  readonly url?: string;
  readonly host?: string;
  readonly canisterId?: string;
  readonly apiKey?: string;
  readonly identity?: string;
  readonly identityPassphraseFile?: string;
  readonly ageIdentity?: string;
  readonly profile?: string;
  readonly transport?: string;
  readonly replica?: string;
  readonly timeout?: string;
  readonly quiet?: boolean;
}

/** With somebody who is told of attempts that are made again. */
interface WatchedConfiguration extends Configuration {
  readonly onRetry?: StorageOptions['onRetry'];
}

export interface Configuration {
  readonly url: string | undefined;
  readonly host: string | undefined;
  readonly canisterId: string | undefined;
  readonly apiKey: string | undefined;
  /** The key is that of a local replica's service.json. */
  readonly isLocalKey: boolean;
  /** Path or name of an identity; it counts before `identityPem`. */
  readonly identity: string | undefined;
  /** Of the local replica. */
  readonly identityPem: string | undefined;
  readonly passphraseFile: string | undefined;
  /** File of the user's own age identities. */
  readonly ageIdentity: string | undefined;
  readonly environment: Environment;
  readonly transport: 'http' | 'actor';
  readonly timeoutMs: number;
  /** Name of the profile that counts. */
  readonly profile: string | undefined;
  /** Folder of the local replica that counts. */
  readonly replica: string | undefined;
  /** What the user should know of all this. */
  readonly notes: readonly string[];
}

const timeoutSecondsDefault = 60;
/** What timers take. */
const timeoutSecondsMax = 2_147_483;

export function readConfiguration(flags: GlobalOptions, environment: Environment): Configuration {
  // What is set to nothing is not set; a file of settings may leave a line end.
  const variable = (name: string) => environment[name]?.trim() || undefined;
  // A profile that a flag names is meant whole: the environment's service is another one.
  const serviceVariable = (name: string) =>
    flags.profile === undefined ? variable(name) : undefined;
  const url = checkedUrl(flags.url ?? serviceVariable('EFS_URL'));
  const host = checkedUrl(flags.host ?? serviceVariable('EFS_HOST'));
  const canisterId = flags.canisterId ?? serviceVariable('EFS_CANISTER_ID');
  const { base, notes } = baseService(flags, environment, { url, host, canisterId });
  if (base?.replica !== undefined && (url ?? host) === undefined) {
    refuseUnsent(base, flags, serviceVariable);
  }
  const identity = flags.identity ?? serviceVariable('EFS_IDENTITY') ?? base?.identity;
  const givenKey = flags.apiKey ?? serviceVariable('EFS_API_KEY');
  const apiKey = givenKey ?? (base && keyOf(base, environment));
  const identityPem = identity === undefined ? base?.identityPem : undefined;
  const serviceUrl = url ?? (host === undefined ? base?.url : undefined);
  const hasIdentity = identity !== undefined || identityPem !== undefined;
  const isLocalKey = givenKey === undefined && base?.replica !== undefined;
  // A local replica's key is for one bucket; its owner may use all.
  const isKeyUsed = apiKey !== undefined && !(isLocalKey && hasIdentity);
  const isOverHttp = serviceUrl !== undefined && (isKeyUsed || !hasIdentity);
  return {
    url: serviceUrl,
    host: host ?? base?.host ?? hostOf(serviceUrl),
    canisterId: canisterId ?? base?.canisterId ?? canisterOf(serviceUrl),
    apiKey,
    isLocalKey,
    identity,
    identityPem,
    passphraseFile: flags.identityPassphraseFile,
    ageIdentity: flags.ageIdentity ?? serviceVariable('EFS_AGE_IDENTITY') ?? base?.ageIdentity,
    environment,
    transport: chosenTransport(flags.transport ?? variable('EFS_TRANSPORT'), isOverHttp),
    timeoutMs: 1_000 * seconds(flags.timeout ?? variable('EFS_TIMEOUT')),
    profile: base?.profile,
    replica: base?.replica,
    notes,
  };
}

/**
 * Anybody may have written the file that an address was found in: secrets that were set for another
 * service stay here.
 */
function refuseUnsent(
  { url, replica }: BaseService,
  flags: GlobalOptions,
  variable: (name: string) => string | undefined,
): void {
  const name = [
    flags.apiKey === undefined ? 'EFS_API_KEY' : '',
    flags.identity === undefined ? 'EFS_IDENTITY' : '',
  ].find((each) => variable(each) !== undefined);
  if (name === undefined) return;
  throw new UsageError(
    `${name} is set, but the address ${url} was only found in ${replica}/service.json, and no ` +
      `secret of the environment goes to an address that you did not name. Set EFS_URL=${url} or ` +
      `pass --url ${url}; or unset ${name} to use the key and identity of that file.`,
  );
}

function checkedUrl(text: string | undefined): string | undefined {
  if (text === undefined || (/^https?:\/\//i.test(text) && URL.canParse(text))) return text;
  throw new UsageError(`An address begins with http:// or https://; got ${text}.`);
}

interface Address {
  readonly url: string | undefined;
  readonly host: string | undefined;
  readonly canisterId: string | undefined;
}

/** A service that is known by more than its address. */
interface BaseService extends Address {
  readonly isInKeyring?: boolean | undefined;
  readonly addresses: readonly (string | undefined)[];
  readonly apiKey?: string | undefined;
  readonly identity?: string | undefined;
  readonly identityPem?: string | undefined;
  readonly ageIdentity?: string | undefined;
  readonly profile?: string;
  readonly replica?: string;
}

/** None when another service is named than those that are known. */
function baseService(
  flags: GlobalOptions,
  environment: Environment,
  named: Address,
): { readonly base: BaseService | undefined; readonly notes: readonly string[] } {
  if (flags.profile !== undefined && flags.replica !== undefined) {
    throw new UsageError('Give --profile or --replica, not both: each is a service of its own.');
  }
  const stored = readProfiles(environment);
  const warning = warningOf(environment, stored);
  const chosen = flags.profile ?? (environment.EFS_PROFILE?.trim() || undefined);
  const profile = (name: string) => ofProfile(name, profileNamed(stored, name));
  if (flags.profile !== undefined && !isAt(profile(flags.profile), named)) {
    throw new UsageError(
      `The address that is given is not that of profile ${flags.profile}, whose key goes to no ` +
        'other: leave out --profile, or --url, --host and --canister-id.',
    );
  }
  const search = findReplica(flags.replica, homeOf(environment));
  const replica = search.found && ofReplica(search.found);
  const { inUse } = stored;
  const candidates = [
    flags.replica === undefined ? undefined : replica,
    chosen === undefined ? undefined : profile(chosen),
    replica,
    inUse === undefined || chosen !== undefined ? undefined : profile(inUse),
  ];
  const base = candidates.find((service) => service !== undefined && isAt(service, named));
  const isHidden =
    base?.replica !== undefined && flags.replica === undefined && inUse !== undefined;
  const notes = [
    ...(warning === undefined ? [] : [warning]),
    ...search.notes,
    ...(isHidden
      ? [`Uses the local replica of ${base.replica}, not profile ${inUse} (--profile ${inUse}).`]
      : []),
  ];
  return { base, notes };
}

function ofProfile(name: string, stored: Profile): BaseService {
  const { url } = stored;
  const host = stored.host ?? hostOf(url);
  const canisterId = stored.canisterId ?? canisterOf(url);
  const addresses = [url, stored.host];
  return { ...stored, host, canisterId, url, addresses, profile: name };
}

function ofReplica({ service, folder }: FoundReplica): BaseService {
  const { url, gateway } = service;
  return { ...service, host: url, addresses: [url, gateway], replica: folder };
}

function isAt(service: BaseService, { url, host, canisterId }: Address): boolean {
  const known = service.addresses.map((address) => address && withoutLastSlashes(address));
  return (
    (url === undefined || known.includes(withoutLastSlashes(url))) &&
    (host === undefined || withoutLastSlashes(host) === withoutLastSlashes(service.host ?? '')) &&
    (canisterId === undefined || canisterId === service.canisterId)
  );
}

/** What the keyring keeps for a profile is under its name and the folder of its file. */
export function keyringAccount(environment: Environment, profile: string): string {
  return `${profile} (${configFolder(environment)})`;
}

/** The keyring, which may ask its user, is asked only for what is needed. */
function keyOf(base: BaseService, environment: Environment): string | undefined {
  if (base.profile === undefined || !base.isInKeyring) return base.apiKey;
  const apiKey = recallSecret(systemKeyring(), keyringAccount(environment, base.profile));
  if (apiKey !== undefined) return apiKey;
  throw new UsageError(
    `The key of profile ${base.profile} is in the system's keyring, which does not give it: ` +
      'unlock the keyring, or run efs profile add again with the key.',
  );
}

function chosenTransport(name: string | undefined, isOverHttp: boolean): 'http' | 'actor' {
  if (name === undefined) return isOverHttp ? 'http' : 'actor';
  if (name === 'http' || name === 'actor') return name;
  throw new UsageError(`The transport is http or actor; got ${name}.`);
}

function seconds(text: string | undefined): number {
  const value = Number(text ?? timeoutSecondsDefault);
  if (value > 0 && value <= timeoutSecondsMax) return value;
  throw new UsageError(
    `The timeout is a number of seconds up to ${timeoutSecondsMax}; got ${text}.`,
  );
}

function canisterOf(url: string | undefined): string | undefined {
  return url === undefined || !URL.canParse(url) ? undefined : canisterIdIn(url);
}

/** The network has one host for agents; other gateways serve agents themselves. */
function hostOf(url: string | undefined): string | undefined {
  const canisterId = canisterOf(url);
  if (url === undefined || canisterId === undefined) return url;
  return isNetwork(url) ? networkAgentHost : url.replace(`//${canisterId}.`, '//');
}

const unknownService =
  'It is not known where the service is: set EFS_URL (https://<canister id>.icp.net on the ' +
  'network) and EFS_API_KEY, or run efs profile add, or run in a folder with a local replica.';
const unknownCanister =
  'It is not known which canister to call: set EFS_URL to its address (https://<canister ' +
  'id>.icp.net on the network), or EFS_HOST (https://icp-api.io) and EFS_CANISTER_ID; or run efs ' +
  'profile add, or run in a folder with a local replica.';

/** For files, by the way of transport that was chosen. */
export async function openStorage(configuration: WatchedConfiguration): Promise<Storage> {
  return open(await fileOptions(configuration), configuration);
}

async function fileOptions(configuration: WatchedConfiguration): Promise<StorageOptions> {
  const { url, host, apiKey, isLocalKey, timeoutMs, onRetry } = configuration;
  if (url === undefined && host === undefined) throw new UsageError(unknownService);
  if (configuration.transport === 'actor') {
    const isNeeded = !hasIdentity(configuration) || !isLocalKey;
    return actorOptions({ ...configuration, apiKey: isNeeded ? apiKey : undefined });
  }
  if (url === undefined) throw new UsageError(unknownService);
  return { url, apiKey, timeoutMs, onRetry };
}

async function open(options: StorageOptions, configuration: Configuration): Promise<Storage> {
  const endToEnd = nodeEndToEnd(await endToEndOptions(configuration));
  return createNodeStorage({ ...options, endToEnd });
}

/** What opens files of end-to-end buckets; what the network derives is kept beside the profiles. */
async function endToEndOptions(configuration: Configuration): Promise<EndToEndOptions> {
  const { ageIdentity, environment } = configuration;
  const store = fileIdentityStore(join(configFolder(environment), 'identities'));
  const common = { store, cipher: nodeSegmentCipher };
  if (ageIdentity === undefined) return common;
  const { loadAgeIdentities } = await import('./age-identities.ts');
  return { ...common, identities: await loadAgeIdentities(ageIdentity, environment) };
}

/** As whoever stores and reads files, or as whoever manages buckets. */
export async function openSecrets(
  configuration: WatchedConfiguration,
  who: 'files' | 'manager',
): Promise<BucketSecrets> {
  const { bucketSecrets } = await import('../../../client/src/bucket-secrets.ts');
  const options = await (who === 'files'
    ? fileOptions(configuration)
    : actorOptions({ ...configuration, apiKey: undefined }));
  return bucketSecrets(options, await endToEndOptions(configuration));
}

export function hasIdentity({ identity, identityPem }: Configuration): boolean {
  return identity !== undefined || identityPem !== undefined;
}

/** For buckets and keys, which the actor alone manages, for an identity. */
export async function openManager(configuration: WatchedConfiguration): Promise<Storage> {
  return open(await actorOptions({ ...configuration, apiKey: undefined }), configuration);
}

/** As whoever calls, where the actor can be asked who that is. */
export function openOverseer(configuration: WatchedConfiguration): Promise<Storage> {
  const { host, canisterId } = configuration;
  const isKnown = host !== undefined && canisterId !== undefined && hasIdentity(configuration);
  return isKnown ? openManager(configuration) : openStorage(configuration);
}

async function actorOptions(configuration: WatchedConfiguration): Promise<StorageOptions> {
  const { url, host, canisterId, apiKey, timeoutMs, onRetry } = configuration;
  if (host === undefined || canisterId === undefined) throw new UsageError(unknownCanister);
  const identity = await identityOf(configuration);
  return { host, canisterId, identity, apiKey, linkUrl: url, timeoutMs, onRetry };
}

/** Loads the agent, which takes a quarter of a second. */
async function identityOf(configuration: Configuration): Promise<StorageIdentity | undefined> {
  if (!hasIdentity(configuration)) return undefined;
  const { loadIdentity } = await import('./load-identity.ts');
  return (await loadIdentity(configuration)).identity;
}

/** What tells one service from another, without secrets. */
export function serviceName(configuration: Configuration): string {
  const { url, host, canisterId } = configuration;
  return canisterId === undefined ? `${url}` : `${host} ${canisterId}`;
}
