// `efs profile`: named services.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { canisterIdIn } from '../../../client/src/connection/canister-id.ts';
import { withoutLastSlashes } from '../../../client/src/operations/url-paths.ts';
import { type GlobalOptions, keyringAccount } from '../config/config.ts';
import { json } from '../config/flags.ts';
import { forgetSecret, keepSecret, systemKeyring } from '../config/keyring.ts';
import { askHidden, hasTerminal } from '../config/passphrase.ts';
import { parsePins } from '../config/pinned-recipients.ts';
import {
  type Profile,
  profileNamed,
  profilesFile,
  readProfiles,
  writeProfiles,
} from '../config/profiles.ts';
import { isJson } from '../output/json-output.ts';
import {
  type Column,
  formatTable,
  printJson,
  printLine,
  printNote,
  printResult,
} from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';

export function addProfileCommands(program: Command): void {
  const profile = program.command('profile').description('manage profiles: services with a name');
  profile
    .command('add <name>')
    .description(
      'store --url, and --api-key or --identity, as a profile; --api-key - reads standard input',
    )
    .option('--no-keyring', 'store the key in a file that only its user can read')
    .addOption(json())
    .action((name: string, flags: { keyring: boolean }, command: Command) =>
      addProfile(name, { ...command.optsWithGlobals<GlobalOptions>(), ...flags }),
    );
  profile
    .command('ls')
    .description('list profiles')
    .addOption(json())
    .action((flags: { json?: boolean }) => listProfiles(flags));
  profile
    .command('use <name>')
    .addOption(json())
    .description('use the profile unless another one is named')
    .action((name: string) => useProfile(name));
  profile
    .command('rm <name>')
    .addOption(json())
    .description('remove a profile and its key')
    .action((name: string) => removeProfile(name));
}

type AddFlags = GlobalOptions & { readonly keyring: boolean };

async function addProfile(name: string, flags: AddFlags): Promise<void> {
  requireName(name);
  const { url, host, canisterId, front } = flags;
  requireAddress(flags);
  const stored = readProfiles(process.env);
  const former = Object.hasOwn(stored.profiles, name) ? stored.profiles[name] : undefined;
  const apiKey = await keyOf(name, flags);
  const account = keyringAccount(process.env, name);
  const isInKeyring =
    apiKey !== undefined && flags.keyring && keepSecret(systemKeyring(), account, apiKey);
  if (!isInKeyring) forget(name, former);
  const profile: Profile = {
    url,
    host,
    canisterId,
    front,
    identity: flags.identity === undefined ? undefined : lasting(flags.identity),
    ...trustOf(former, flags),
    ...(isInKeyring ? { isInKeyring } : { apiKey }),
  };
  const inUse = stored.inUse ?? name;
  await writeProfiles(process.env, { inUse, profiles: { ...stored.profiles, [name]: profile } });
  printResult({ name }, name);
  if (flags.quiet || isJson()) return;
  const use = inUse === name ? 'The profile is in use.' : `efs profile use ${name} selects it.`;
  printNote(`${saySecret(profile, ' of the profile')}. ${use}`);
  sayPins(former, profile);
}

/**
 * Returns the age identity and the pinned recipients. Flags change those of a former profile of the
 * same service: a new key must not remove pins, which protect the writer from the service.
 */
function trustOf(former: Profile | undefined, flags: AddFlags): Profile {
  const kept = former !== undefined && isSameService(former, flags) ? former : {};
  const given = flags.pinRecipients && parsePins(flags.pinRecipients);
  return {
    ageIdentity: flags.ageIdentity === undefined ? kept.ageIdentity : resolve(flags.ageIdentity),
    pinnedRecipients: given ? { ...kept.pinnedRecipients, ...given } : kept.pinnedRecipients,
  };
}

/**
 * Compares canisters, because one canister has several addresses; compares addresses if one of the
 * canisters is unknown.
 */
function isSameService(one: Profile, other: Pick<Profile, 'url' | 'canisterId'>): boolean {
  const [id, otherId] = [one, other].map(({ url, canisterId }) => {
    return canisterId ?? (url === undefined ? undefined : canisterIdIn(url));
  });
  if (id !== undefined && otherId !== undefined) return id === otherId;
  return withoutLastSlashes(one.url ?? '') === withoutLastSlashes(other.url ?? '');
}

function sayPins(former: Profile | undefined, { pinnedRecipients = {} }: Profile): void {
  for (const bucket of Object.keys(former?.pinnedRecipients ?? {})) {
    const isKept = Object.hasOwn(pinnedRecipients, bucket);
    printNote(
      isKept
        ? `The recipients of bucket ${bucket} stay pinned.`
        : `The pin of bucket ${bucket} was removed, because the profile now names another service: ` +
            '--pin-recipients sets a new one.',
    );
  }
}

function requireName(name: string): void {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name) && name !== '__proto__') return;
  throw new UsageError(
    `The name of a profile must be 1 to 64 letters, digits, dots, dashes and underscores; got ${name}.`,
  );
}

function requireAddress({ url, host, canisterId, front }: AddFlags): void {
  const id = canisterId ?? front;
  if (url === undefined && (host === undefined || id === undefined)) {
    throw new UsageError(
      'Give the address of the service as --url, on the network https://<canister id>.icp.net; or ' +
        '--host (https://icp-api.io) and --canister-id or --front.',
    );
  }
  for (const address of [url, host]) {
    if (address === undefined || (/^https?:\/\//i.test(address) && URL.canParse(address))) continue;
    throw new UsageError(`An address must begin with http:// or https://; got ${address}.`);
  }
}

/** Makes a path absolute, so that it works in any folder; keeps a name unchanged. */
function lasting(identity: string): string {
  return existsSync(identity) ? resolve(identity) : identity;
}

async function keyOf(name: string, { apiKey, identity }: AddFlags): Promise<string | undefined> {
  if (apiKey === '-') return checkedKey(await readInput());
  if (apiKey !== undefined) return checkedKey(apiKey);
  if (identity !== undefined || !hasTerminal()) return undefined;
  const typed = await askHidden(`API key of ${name} (not shown; leave empty for none): `);
  return typed.trim() === '' ? undefined : checkedKey(typed);
}

function checkedKey(text: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError('The API key is empty, or has spaces or line ends.');
}

async function readInput(): Promise<string> {
  let text = '';
  process.stdin.setEncoding('utf8');
  for await (const part of process.stdin) text += part;
  return text;
}

function forget(name: string, profile: Profile | undefined): void {
  if (profile?.isInKeyring) forgetSecret(systemKeyring(), keyringAccount(process.env, name));
}

function saySecret({ apiKey, identity, isInKeyring }: Profile, ofIt = ''): string {
  if (isInKeyring) return `The key${ofIt} is in the system's keyring`;
  if (apiKey !== undefined) return `The key${ofIt} is in ${profilesFile(process.env)}`;
  return identity === undefined ? 'It has no key and no identity' : `The identity is ${identity}`;
}

interface Row {
  readonly name: string;
  readonly isInUse: boolean;
  readonly profile: Profile;
}

const columns: readonly Column<Row>[] = [
  { title: '', value: ({ isInUse }) => (isInUse ? '*' : '') },
  { title: 'PROFILE', value: ({ name }) => name },
  {
    title: 'ADDRESS',
    value: ({ profile: { url, host, canisterId } }) => url ?? `${host} ${canisterId}`,
  },
  { title: 'IDENTITY', value: ({ profile }) => profile.identity ?? '–' },
  { title: 'KEY', value: ({ profile }) => keyPlace(profile) },
];

function keyPlace({ apiKey, isInKeyring }: Profile): string {
  if (isInKeyring) return 'in the keyring';
  return apiKey === undefined ? '–' : 'in the file';
}

function listProfiles(flags: { json?: boolean }): void {
  const { inUse, profiles } = readProfiles(process.env);
  const rows = Object.entries(profiles).map(([name, profile]) => {
    return { name, isInUse: name === inUse, profile };
  });
  if (flags.json) {
    printJson(
      rows.map(({ name, isInUse, profile: { url, host, canisterId, identity, ...kept } }) => {
        return { name, isInUse, url, host, canisterId, identity, key: keyPlace(kept) };
      }),
    );
  } else if (rows.length > 0) printLine(formatTable(rows, columns));
  else printNote('No profile exists yet: efs profile add creates one.');
}

async function useProfile(name: string): Promise<void> {
  const stored = readProfiles(process.env);
  profileNamed(stored, name);
  await writeProfiles(process.env, { ...stored, inUse: name });
  printResult({ name }, name);
}

async function removeProfile(name: string): Promise<void> {
  const { inUse, profiles } = readProfiles(process.env);
  forget(name, profileNamed({ profiles }, name));
  const { [name]: _, ...others } = profiles;
  await writeProfiles(process.env, { inUse: inUse === name ? undefined : inUse, profiles: others });
  printResult({ name }, name);
}
