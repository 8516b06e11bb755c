// Install and upgrade. Their optional argument names the source of the root key and the canister's
// role in its service.

import { IDL, idlLabelToId } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { init, msgArgData, postUpgrade, trap } from 'azle';
import { skipUpgrade } from '../../domain/administration/record-upgrade.ts';
import type { RoleSettings } from '../../domain/administration/service-role.ts';
import type { RootKeySource } from '../../domain/keys/root-keys.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { encodeHex } from '../../lib/hex.ts';
import { Settings } from '../candid/service.ts';
import { setUp, stores } from '../runtime/runtime.ts';

export type RootKeyArgument =
  | { readonly vetkd: string }
  | { readonly vetkdBy: { readonly keyName: string; readonly proxy: [] | [Principal] } }
  | { readonly stored: null };

/** An empty name stands for the first key that the network knows. */
export function rootKeySource(argument: RootKeyArgument): RootKeySource {
  if ('stored' in argument) {
    return { kind: 'stored' };
  }
  if ('vetkd' in argument) return { kind: 'vetkd', keyName: argument.vetkd || undefined };
  const { keyName, proxy } = argument.vetkdBy;
  return { kind: 'vetkd', keyName: keyName || undefined, proxy: proxy[0]?.toText() ?? '' };
}

type RoleArgument =
  | { readonly volume: { readonly front: [] | [Principal] } }
  | { readonly front: null };

interface SettingsArgument {
  readonly rootKey: [] | [RootKeyArgument];
  readonly role: [] | [RoleArgument];
}

const argumentText =
  'opt record { rootKey : opt variant { vetkd : text; stored; ' +
  'vetkdBy : record { keyName : text; proxy : opt principal } }; ' +
  'role : opt variant { volume : record { front : opt principal }; front } }';
/** Forms in which tools send an absent argument: no bytes, "DIDL" without values, or with null. */
const nothing = ['', '4449444c0000', '4449444c00017f'];
const fields = (['rootKey', 'role'] as const).map((name) => {
  return { name, label: `_${idlLabelToId(name)}_` };
});

/**
 * Candid treats a value that does not fit an optional type as absent, which here could silently
 * choose another source of the root key.
 */
function decodeSettings(bytes: Uint8Array): SettingsArgument | undefined {
  if (nothing.includes(encodeHex(bytes))) {
    return undefined;
  }
  const [[settings]] = IDL.decode([IDL.Opt(Settings)], bytes) as unknown as [[SettingsArgument?]];
  const sent = withoutOption(IDL.decode([IDL.Unknown], bytes)[0]);
  const sentFields = Object.entries(sent ?? {});
  const isUnderstood =
    (settings !== undefined || sent === undefined) &&
    sentFields.every(([name, value]) => {
      const field = fields.find(({ label }) => label === name);
      if (field === undefined) return false;
      return withoutOption(value) === undefined || settings?.[field.name][0] !== undefined;
    });
  if (!isUnderstood) {
    throw new TypeError('its fields or types differ from the declared ones');
  }
  return settings;
}

function withoutOption(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}

function askedRole(argument: RoleArgument | undefined): RoleSettings['asked'] {
  if (argument === undefined) return undefined;
  if ('front' in argument) return { kind: 'front' };
  const [front] = argument.volume.front;
  return { kind: 'volume', ...(front && { front: front.toText() }) };
}

/** Installs and upgrades fail if the argument is not understood. */
function settingsFromArgument() {
  try {
    const settings = decodeSettings(msgArgData());
    const source = settings?.rootKey[0];
    return { source: source && rootKeySource(source), asked: askedRole(settings?.role[0]) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return trap(`The argument must be (${argumentText}) or absent; cannot decode it: ${reason}`);
  }
}

function start({ isInstall }: { readonly isInstall: boolean }): void {
  const { source, asked } = settingsFromArgument();
  try {
    setUp({ source, role: { asked, isInstall } });
  } catch (error) {
    if (error instanceof Refusal) trap(`${error.code}: ${error.message}`);
    throw error;
  }
}

export class LifecycleActor {
  @init([IDL.Opt(Settings)], { manual: true })
  install(): void {
    start({ isInstall: true });
    skipUpgrade(stores);
  }

  @postUpgrade([IDL.Opt(Settings)], { manual: true })
  upgrade(): void {
    start({ isInstall: false });
  }
}
