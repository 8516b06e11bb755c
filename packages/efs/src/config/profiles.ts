// Profiles: named services with a key or an identity, in `profiles.json` of the user's
// configuration. Only the user can read the file; keys are in the system's keyring if there is one.

import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '../../../client/src/node/replace-file.ts';
import { UsageError } from '../output/usage-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Profile {
  readonly url?: string | undefined;
  readonly host?: string | undefined;
  readonly canisterId?: string | undefined;
  /** Id of the front of a service of several volumes. */
  readonly front?: string | undefined;
  /** Path or name of an identity. */
  readonly identity?: string | undefined;
  readonly ageIdentity?: string | undefined;
  /** Digests of recipients by bucket. */
  readonly pinnedRecipients?: Readonly<Record<string, string>> | undefined;
  readonly apiKey?: string | undefined;
  readonly isInKeyring?: boolean | undefined;
}

export interface Profiles {
  /** Name of the profile to use if none is named. */
  readonly inUse?: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
}

const version = 1;
const none: Profiles = { profiles: {} };

export function homeOf(environment: Environment): string {
  return environment.HOME || homedir();
}

export function configFolder(environment: Environment): string {
  const { XDG_CONFIG_HOME: xdg, APPDATA: appData } = environment;
  if (xdg) return join(xdg, 'efs');
  if (process.platform === 'win32' && appData) return join(appData, 'efs');
  return join(homeOf(environment), '.config', 'efs');
}

export function profilesFile(environment: Environment): string {
  return join(configFolder(environment), 'profiles.json');
}

export function readProfiles(environment: Environment): Profiles {
  const file = profilesFile(environment);
  const text = readText(file);
  if (text === undefined) return none;
  const damaged = () =>
    new UsageError(`${file} is damaged: repair it, or delete it to start anew.`);
  let stored: Partial<Profiles> & { readonly version?: unknown };
  try {
    stored = JSON.parse(text);
  } catch {
    throw damaged();
  }
  if (typeof stored?.profiles !== 'object' || stored.profiles === null) throw damaged();
  if (stored.version !== version) {
    throw new UsageError(`${file} was written by a later version of efs: update efs.`);
  }
  return { inUse: stored.inUse, profiles: { ...stored.profiles } };
}

/** Returns a text that differs after a change of the profiles. */
export function profilesStamp(environment: Environment): string {
  const stats = statSync(profilesFile(environment), { throwIfNoEntry: false });
  if (stats === undefined) return '';
  return [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join();
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new UsageError(`The profiles in ${file} cannot be read: ${message}`);
  }
}

export function writeProfiles(environment: Environment, profiles: Profiles): Promise<void> {
  const text = `${JSON.stringify({ version, ...profiles }, null, 2)}\n`;
  return replaceFile(profilesFile(environment), text);
}

/** Returns undefined if only the user can read the file, or if it contains no key. */
export function warningOf(environment: Environment, { profiles }: Profiles): string | undefined {
  if (process.platform === 'win32') return undefined;
  if (!Object.values(profiles).some(({ apiKey }) => apiKey !== undefined)) return undefined;
  const file = profilesFile(environment);
  return statSync(file).mode & 0o077
    ? `Other users of this machine can read the keys in ${file}: run chmod 600 ${file}, and revoke ` +
        'keys that somebody may have seen.'
    : undefined;
}

export function profileNamed({ profiles }: Profiles, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const names = Object.keys(profiles);
  const known =
    names.length === 0 ? 'no profile exists yet' : `the profiles are ${names.join(', ')}`;
  throw new UsageError(`Profile ${name} does not exist: ${known}. efs profile add creates one.`);
}
