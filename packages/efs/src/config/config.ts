// Finds the service and the caller: from flags, then from the environment, then from one service as
// a whole (the named profile, a local replica, or the profile in use). Secrets of that service are
// sent only to its own address.

import { isNetwork, networkAgentHost } from '../../../client/src/connection/canister-address.ts';
import { canisterIdIn } from '../../../client/src/connection/canister-id.ts';
import { withoutLastSlashes } from '../../../client/src/operations/url-paths.ts';
import { UsageError } from '../output/usage-error.ts';
import { recallSecret, systemKeyring } from './keyring.ts';
import { type FoundReplica, findReplica } from './local-replica.ts';
import { type PinnedRecipients, parsePins } from './pinned-recipients.ts';
import {
  configFolder,
  type Environment,
  homeOf,
  type Profile,
  profileNamed,
  readProfiles,
  warningOf,
} from './profiles.ts';

/** Flags of every command, in commander's form. */
export interface GlobalOptions {
  readonly url?: string;
  readonly host?: string;
  readonly canisterId?: string;
  readonly front?: string;
  readonly apiKey?: string;
  readonly identity?: string | undefined;
  readonly identityPassphraseFile?: string | undefined;
  readonly ageIdentity?: string;
  /** --pin-recipients, once for each bucket. */
  readonly pinRecipients?: readonly string[];
  readonly acceptRecipients?: boolean;
  readonly profile?: string;
  readonly transport?: string;
  readonly replica?: string;
  readonly timeout?: string | undefined;
  readonly quiet?: boolean;
}

/** `both` reads over HTTP and writes by the actor: the default unless only an identity is given. */
export type TransportChoice = 'http' | 'actor' | 'both';

export interface Configuration {
  readonly url: string | undefined;
  readonly host: string | undefined;
  readonly canisterId: string | undefined;
  /** Id of the front of a service of several volumes, which the identity uses. */
  readonly front: string | undefined;
  readonly apiKey: string | undefined;
  /** Whether the key comes from the service.json of a local replica. */
  readonly isLocalKey: boolean;
  /** Path or name of an identity; it has priority over `identityPem`. */
  readonly identity: string | undefined;
  readonly identityPem: string | undefined;
  readonly passphraseFile: string | undefined;
  readonly ageIdentity: string | undefined;
  /** Digests that recipients of end-to-end buckets must have. */
  readonly pinnedRecipients: PinnedRecipients;
  readonly acceptsRecipients: boolean;
  readonly environment: Environment;
  readonly transport: TransportChoice;
  readonly timeoutMs: number;
  readonly profile: string | undefined;
  readonly replica: string | undefined;
  /** Notes for the user about these choices. */
  readonly notes: readonly string[];
}

const timeoutSecondsDefault = 60;
/** Longest delay of Node's timers. */
const timeoutSecondsMax = 2_147_483;

export function readConfiguration(flags: GlobalOptions, environment: Environment): Configuration {
  // An empty variable counts as unset; a value read from a file may end in a line break.
  const variable = (name: string) => environment[name]?.trim() || undefined;
  // With --profile, the variables that describe a service are ignored.
  const serviceVariable = (name: string) =>
    flags.profile === undefined ? variable(name) : undefined;
  const url = checkedUrl(flags.url ?? serviceVariable('EFS_URL'));
  const host = checkedUrl(flags.host ?? serviceVariable('EFS_HOST'));
  const canisterId = flags.canisterId ?? serviceVariable('EFS_CANISTER_ID');
  const ownFront = flags.front ?? serviceVariable('EFS_FRONT_ID');
  const named = { url, host, canisterId, front: ownFront };
  const { base, notes } = baseService(flags, environment, named);
  if (base?.replica !== undefined && (url ?? host) === undefined) {
    refuseUnsent(base, flags, serviceVariable);
  }
  // A named canister is used alone, without the other volumes of its service
  const front = ownFront ?? (canisterId === undefined ? base?.front : undefined);
  const identity = flags.identity ?? serviceVariable('EFS_IDENTITY') ?? base?.identity;
  const givenKey = flags.apiKey ?? serviceVariable('EFS_API_KEY');
  const apiKey = givenKey ?? (base && keyOf(base, environment));
  const identityPem = identity === undefined ? base?.identityPem : undefined;
  const serviceUrl = url ?? (host === undefined ? base?.url : undefined);
  const hasIdentity = identity !== undefined || identityPem !== undefined;
  const isLocalKey = givenKey === undefined && base?.replica !== undefined;
  // A local replica's key is only for one bucket, but the owner's identity may use all buckets.
  const isKeyUsed = apiKey !== undefined && !(isLocalKey && hasIdentity);
  const readsOverHttp = serviceUrl !== undefined && (isKeyUsed || !hasIdentity);
  return {
    url: serviceUrl,
    host: host ?? base?.host ?? hostOf(serviceUrl),
    canisterId: canisterId ?? base?.canisterId ?? canisterOf(serviceUrl) ?? front,
    front,
    apiKey,
    isLocalKey,
    identity,
    identityPem,
    passphraseFile: flags.identityPassphraseFile,
    ageIdentity: flags.ageIdentity ?? serviceVariable('EFS_AGE_IDENTITY') ?? base?.ageIdentity,
    pinnedRecipients: {
      ...base?.pinnedRecipients,
      ...parsePins(serviceVariable('EFS_PIN_RECIPIENTS')?.split(',') ?? []),
      ...parsePins(flags.pinRecipients ?? []),
    },
    acceptsRecipients: flags.acceptRecipients === true,
    environment,
    transport: chosenTransport(flags.transport ?? variable('EFS_TRANSPORT'), readsOverHttp),
    timeoutMs: 1_000 * seconds(flags.timeout ?? variable('EFS_TIMEOUT')),
    profile: base?.profile,
    replica: base?.replica,
    notes,
  };
}

/** Refuses to send the environment's secrets to an address that was only found in a file. */
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
  throw new UsageError(`An address must begin with http:// or https://; got ${text}.`);
}

interface Address {
  readonly url: string | undefined;
  readonly host: string | undefined;
  readonly canisterId: string | undefined;
  readonly front?: string | undefined;
}

interface BaseService extends Address {
  readonly isInKeyring?: boolean | undefined;
  readonly addresses: readonly (string | undefined)[];
  readonly apiKey?: string | undefined;
  readonly identity?: string | undefined;
  readonly identityPem?: string | undefined;
  readonly ageIdentity?: string | undefined;
  readonly pinnedRecipients?: PinnedRecipients | undefined;
  readonly profile?: string;
  readonly replica?: string;
}

/** Returns the first profile or replica that is at the named address, if there is one. */
function baseService(
  flags: GlobalOptions,
  environment: Environment,
  named: Address,
): { readonly base: BaseService | undefined; readonly notes: readonly string[] } {
  if (flags.profile !== undefined && flags.replica !== undefined) {
    throw new UsageError('Give --profile or --replica, not both: each names a service.');
  }
  const stored = readProfiles(environment);
  const warning = warningOf(environment, stored);
  const chosen = flags.profile ?? (environment.EFS_PROFILE?.trim() || undefined);
  const profile = (name: string) => ofProfile(name, profileNamed(stored, name));
  if (flags.profile !== undefined && !isAt(profile(flags.profile), named)) {
    throw new UsageError(
      `The given address differs from that of profile ${flags.profile}, whose key is only sent to its ` +
        'own address: omit --profile, or --url, --host and --canister-id.',
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

function isAt(service: BaseService, { url, host, canisterId, front }: Address): boolean {
  const known = service.addresses.map((address) => address && withoutLastSlashes(address));
  return (
    (url === undefined || known.includes(withoutLastSlashes(url))) &&
    (host === undefined || withoutLastSlashes(host) === withoutLastSlashes(service.host ?? '')) &&
    (canisterId === undefined || canisterId === service.canisterId) &&
    (front === undefined || front === service.front)
  );
}

/** Returns the keyring's account of a profile: its name and the folder of its file. */
export function keyringAccount(environment: Environment, profile: string): string {
  return `${profile} (${configFolder(environment)})`;
}

/** Reads the keyring only when the key is needed, because the keyring may ask the user. */
function keyOf(base: BaseService, environment: Environment): string | undefined {
  if (base.profile === undefined || !base.isInKeyring) return base.apiKey;
  const apiKey = recallSecret(systemKeyring(), keyringAccount(environment, base.profile));
  if (apiKey !== undefined) return apiKey;
  throw new UsageError(
    `The system's keyring does not return the key of profile ${base.profile}: ` +
      'unlock the keyring, or run efs profile add again with the key.',
  );
}

function chosenTransport(name: string | undefined, readsOverHttp: boolean): TransportChoice {
  if (name === undefined) return readsOverHttp ? 'both' : 'actor';
  if (name === 'http' || name === 'actor') return name;
  throw new UsageError(`The transport must be http or actor; got ${name}.`);
}

function seconds(text: string | undefined): number {
  const value = Number(text ?? timeoutSecondsDefault);
  if (value > 0 && value <= timeoutSecondsMax) return value;
  throw new UsageError(
    `The timeout must be a number of seconds up to ${timeoutSecondsMax}; got ${text}.`,
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

export function hasIdentity({ identity, identityPem }: Configuration): boolean {
  return identity !== undefined || identityPem !== undefined;
}

/** Identifies a service in state files, without secrets. */
export function serviceName(configuration: Configuration): string {
  const { url, host, canisterId } = configuration;
  return canisterId === undefined ? `${url}` : `${host} ${canisterId}`;
}
