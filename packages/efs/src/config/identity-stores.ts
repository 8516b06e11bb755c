// Finds an identity by a path or a name, in the stores of dfx and of icp-cli. If only such a tool
// can read the identity, the error contains the tool's command that exports it.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { DfxEncryption } from '../../../client/src/node/dfx-identity.ts';
import { UsageError } from '../output/usage-error.ts';
import { type Environment, homeOf } from './profiles.ts';

export interface StoredIdentity {
  /** `file`: named by its path. */
  readonly store: 'file' | 'dfx' | 'icp-cli';
  readonly name: string;
  readonly file: string;
  /** Parameters of dfx's encryption of the PEM. */
  readonly encryption?: DfxEncryption;
  /** Principal, if the store records it. */
  readonly principal?: string;
}

/** Finds an identity by a path, else by its name; `dfx:NAME` and `icp:NAME` select the store. */
export function findIdentity(text: string, environment: Environment): StoredIdentity {
  const [, prefix, inStore = ''] = /^(dfx|icp):(.*)$/s.exec(text) ?? [];
  if (prefix === undefined && isFile(text)) {
    return { store: 'file', name: text, file: resolve(text) };
  }
  const name = prefix === undefined ? text : inStore;
  if (!/^[\w.@+-]+$/.test(name) || /^\.+$/.test(name)) throw notFound(text);
  const ofDfx = prefix === 'icp' ? undefined : findInDfx(name, environment);
  const ofIcp = prefix === 'dfx' ? undefined : findInIcpCli(name, environment);
  if (ofDfx !== undefined && ofIcp !== undefined) return theSame(ofDfx(), ofIcp(), name);
  const found = (ofDfx ?? ofIcp)?.();
  if (found === undefined) throw notFound(text);
  return found;
}

function notFound(text: string): UsageError {
  return new UsageError(
    `Identity ${text} does not exist: it is neither a readable file nor a name that dfx or ` +
      'icp-cli knows (dfx identity list, icp identity list).',
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Compares without a passphrase: the files must be equal byte for byte. */
function theSame(ofDfx: StoredIdentity, ofIcp: StoredIdentity, name: string): StoredIdentity {
  const isSame = readFileSync(ofDfx.file).equals(readFileSync(ofIcp.file));
  if (isSame) return ofIcp;
  throw new UsageError(
    `Both dfx and icp-cli have an identity ${name}, and they may differ: name one ` +
      `as dfx:${name} or icp:${name}.`,
  );
}

/** Returns undefined if dfx lacks the identity. The returned function throws for unusable keys. */
function findInDfx(name: string, environment: Environment): (() => StoredIdentity) | undefined {
  const folder = join(dfxFolder(environment), 'identity', name);
  if (!existsSync(folder)) return undefined;
  return () => {
    const settings = readJson(join(folder, 'identity.json')) as DfxSettings | undefined;
    if (settings?.hsm) {
      throw new UsageError(`dfx has identity ${name} on a hardware key, which efs cannot use.`);
    }
    if (settings?.keyring_identity_suffix) {
      throw elsewhere('dfx', name, `dfx identity export ${name}`);
    }
    const encryption = settings?.encryption ?? undefined;
    const fileName = encryption === undefined ? 'identity.pem' : 'identity.pem.encrypted';
    const found = { store: 'dfx', name, file: join(folder, fileName) } as const;
    return encryption === undefined ? found : { ...found, encryption };
  };
}

interface DfxSettings {
  readonly hsm?: object | null;
  readonly encryption?: DfxEncryption | null;
  readonly keyring_identity_suffix?: string | null;
}

function elsewhere(tool: string, name: string, exporting: string): UsageError {
  return new UsageError(
    `${tool} stores identity ${name} in the system's keyring. Export it: ${exporting} > ` +
      `${name}.pem && chmod 600 ${name}.pem; then give --identity ${name}.pem.`,
  );
}

function dfxFolder(environment: Environment): string {
  const { DFX_CONFIG_ROOT, APPDATA } = environment;
  if (process.platform === 'win32') {
    return DFX_CONFIG_ROOT || join(APPDATA ?? '', 'dfinity', 'dfx', 'config');
  }
  return join(DFX_CONFIG_ROOT || homeOf(environment), '.config', 'dfx');
}

interface IcpSpec {
  readonly kind?: string;
  readonly principal?: string;
}

function findInIcpCli(name: string, environment: Environment): (() => StoredIdentity) | undefined {
  const folder = join(icpFolder(environment), 'identity');
  const list = readJson(join(folder, 'identity_list.json')) as
    | { readonly identities?: Readonly<Record<string, IcpSpec>> }
    | undefined;
  const identities = list?.identities ?? {};
  const spec = Object.hasOwn(identities, name) ? identities[name] : undefined;
  if (spec === undefined) return undefined;
  return () => {
    const { kind, principal } = spec;
    if (kind === 'keyring') throw elsewhere('icp-cli', name, `icp identity export ${name}`);
    if (kind !== 'pem') {
      throw new UsageError(
        `efs cannot use identity ${name} of icp-cli: its kind is ${kind}, without a readable key.`,
      );
    }
    const file = join(folder, 'keys', `${name}.pem`);
    return { store: 'icp-cli', name, file, ...(principal !== undefined && { principal }) };
  };
}

function icpFolder(environment: Environment): string {
  const { ICP_HOME, XDG_DATA_HOME, APPDATA } = environment;
  if (ICP_HOME) return ICP_HOME;
  const home = homeOf(environment);
  if (process.platform === 'win32') return join(APPDATA ?? '', 'icp-cli', 'data');
  if (process.platform === 'darwin') {
    return join(home, 'Library', 'Application Support', 'org.dfinity.icp-cli');
  }
  return join(XDG_DATA_HOME || join(home, '.local', 'share'), 'icp-cli');
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
