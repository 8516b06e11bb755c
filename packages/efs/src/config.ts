// Where the service is and who calls it: flags, then the environment, then a local replica's
// service.json. Its secrets go to that replica alone.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from '@icp-sdk/core/agent';
import { withoutLastSlashes } from '../../client/src/http-paths.ts';
import { createNodeStorage } from '../../client/src/node/storage.ts';
import type { Storage, StorageOptions } from '../../client/src/storage.ts';
import { UsageError } from './usage-error.ts';

/** Flags of every command, as commander gives them. */
export interface GlobalOptions {
  readonly url?: string;
  readonly host?: string;
  readonly canisterId?: string;
  readonly apiKey?: string;
  readonly identity?: string;
  readonly transport?: string;
  readonly replica?: string;
  readonly timeout?: string;
  readonly quiet?: boolean;
}

export interface Configuration {
  readonly url: string | undefined;
  readonly host: string | undefined;
  readonly canisterId: string | undefined;
  readonly apiKey: string | undefined;
  /** The key is that of a local replica's service.json. */
  readonly isLocalKey: boolean;
  readonly identityPem: string | undefined;
  readonly transport: 'http' | 'actor';
  readonly timeoutMs: number;
}

interface LocalService {
  readonly url: string;
  readonly gateway: string;
  readonly canisterId: string;
  readonly apiKey: string;
  readonly identityPem: string;
}

const timeoutSecondsDefault = 60;
/** What timers take. */
const timeoutSecondsMax = 2_147_483;

type Environment = Readonly<Record<string, string | undefined>>;

export function readConfiguration(flags: GlobalOptions, environment: Environment): Configuration {
  // What is set to nothing is not set; a file of settings may leave a line end.
  const variable = (name: string) => environment[name]?.trim() || undefined;
  const url = checkedUrl(flags.url ?? variable('EFS_URL'));
  const host = checkedUrl(flags.host ?? variable('EFS_HOST'));
  const canisterId = flags.canisterId ?? variable('EFS_CANISTER_ID');
  const named = { url, host, canisterId };
  const local = localService(flags.replica, named);
  const identity = flags.identity ?? variable('EFS_IDENTITY');
  const identityPem = identity === undefined ? local?.identityPem : readText(identity);
  const givenKey = flags.apiKey ?? variable('EFS_API_KEY');
  const apiKey = givenKey ?? local?.apiKey;
  const serviceUrl = url ?? (host === undefined ? local?.url : undefined);
  const transport = flags.transport ?? variable('EFS_TRANSPORT');
  return {
    url: serviceUrl,
    host: host ?? local?.url ?? hostOf(serviceUrl),
    canisterId: canisterId ?? local?.canisterId ?? canisterOf(serviceUrl),
    apiKey,
    isLocalKey: givenKey === undefined,
    identityPem,
    transport: chosenTransport(transport, serviceUrl !== undefined && hasKeyOrNobody()),
    timeoutMs: 1_000 * seconds(flags.timeout ?? variable('EFS_TIMEOUT')),
  };

  function hasKeyOrNobody(): boolean {
    return apiKey !== undefined || identityPem === undefined;
  }
}

function checkedUrl(text: string | undefined): string | undefined {
  if (text === undefined || (/^https?:\/\//i.test(text) && URL.canParse(text))) return text;
  throw new UsageError(`An address begins with http:// or https://; got ${text}.`);
}

/**
 * Undefined when there is none, or when another service is named. What lies in a folder that
 * somebody else has made gets no key of ours: it counts only on this machine, or when it was named.
 */
function localService(
  folder: string | undefined,
  named: { url: string | undefined; host: string | undefined; canisterId: string | undefined },
): LocalService | undefined {
  const file = join(folder ?? '.replica', 'service.json');
  const service = readJson(file) as LocalService | undefined;
  if (service === undefined) return undefined;
  const { url, gateway, canisterId } = service;
  if (folder === undefined && !(isLoopback(url) && isLoopback(gateway))) return undefined;
  const isElsewhere =
    (named.url !== undefined && ![url, gateway].includes(withoutLastSlashes(named.url))) ||
    (named.host !== undefined && withoutLastSlashes(named.host) !== url) ||
    (named.canisterId !== undefined && named.canisterId !== canisterId);
  return isElsewhere ? undefined : service;
}

function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(`The identity file ${path} cannot be read.`);
  }
}

function chosenTransport(name: string | undefined, hasHttp: boolean): 'http' | 'actor' {
  if (name === undefined) return hasHttp ? 'http' : 'actor';
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

/** `<canister id>.` is the first label of a gateway's address. */
function canisterOf(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return undefined;
  const [label = ''] = new URL(url).hostname.split('.');
  return /^(?:[a-z0-9]{5}-)+[a-z0-9]{3}$/.test(label) ? label : undefined;
}

/** A gateway's address without the canister's label serves agents too. */
function hostOf(url: string | undefined): string | undefined {
  const canisterId = canisterOf(url);
  return canisterId === undefined ? url : url?.replace(`//${canisterId}.`, '//');
}

const where = 'give --url or set EFS_URL, or run where a local replica keeps its .replica folder';

/** For files, by the way of transport that was chosen. */
export async function openStorage(configuration: Configuration): Promise<Storage> {
  const { url, apiKey, isLocalKey, identityPem, timeoutMs } = configuration;
  if (configuration.transport === 'actor') {
    // A local replica's key is for one bucket; its owner may use all.
    const isNeeded = identityPem === undefined || !isLocalKey;
    return openActorStorage({ ...configuration, apiKey: isNeeded ? apiKey : undefined });
  }
  if (url === undefined) throw new UsageError(`It is not known where the service is: ${where}.`);
  return createNodeStorage({ url, apiKey, timeoutMs });
}

/** For buckets and keys, which the actor alone manages, for an identity. */
export function openManager(configuration: Configuration): Promise<Storage> {
  return openActorStorage({ ...configuration, apiKey: undefined });
}

async function openActorStorage(configuration: Configuration): Promise<Storage> {
  const { host, canisterId, apiKey, identityPem, timeoutMs } = configuration;
  if (host === undefined || canisterId === undefined) {
    throw new UsageError('Calls of the actor need --host and --canister-id, or a local replica.');
  }
  const identity = identityPem === undefined ? undefined : await readIdentity(identityPem);
  const options: StorageOptions = { host, canisterId, identity, apiKey, timeoutMs };
  return createNodeStorage(options);
}

/** Loads the agent, which takes a quarter of a second. */
async function readIdentity(pem: string): Promise<Identity> {
  const { identityFromPem } = await import('../../client/src/node/identity.ts');
  return identityFromPem(pem);
}

/** What tells one service from another, without secrets. */
export function serviceName(configuration: Configuration): string {
  const { url, host, canisterId } = configuration;
  return canisterId === undefined ? `${url}` : `${host} ${canisterId}`;
}
