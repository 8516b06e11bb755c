// Install and upgrade, with one argument that may be left out: where the root key comes from.

import { IDL, idlLabelToId } from '@dfinity/candid';
import { init, msgArgData, postUpgrade, trap } from 'azle';
import { skipUpgrade } from '../../domain/administration/record-upgrade.ts';
import type { RootKeySource } from '../../domain/keys/root-keys.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { encodeHex } from '../../lib/hex.ts';
import { Settings } from '../candid/types.ts';
import { setUp, stores } from '../runtime/runtime.ts';

export type RootKeyArgument = { readonly vetkd: string } | { readonly stored: null };

/** An empty name: the first key that the network knows. */
export function rootKeySource(argument: RootKeyArgument): RootKeySource {
  if ('stored' in argument) {
    return { kind: 'stored' };
  }
  return { kind: 'vetkd', keyName: argument.vetkd === '' ? undefined : argument.vetkd };
}

interface SettingsArgument {
  readonly rootKey: [] | [RootKeyArgument];
}

const argumentText = 'opt record { rootKey : opt variant { vetkd : text; stored } }';
/** Arguments that tools send for none: no bytes, "DIDL" with no values, or with null. */
const nothing = ['', '4449444c0000', '4449444c00017f'];
const rootKeyField = `_${idlLabelToId('rootKey')}_`;

/**
 * Candid takes whatever does not fit an optional type for its absence. Here that would mean a root
 * key from elsewhere than somebody wanted.
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
      const isLost = withoutOption(value) !== undefined && settings?.rootKey[0] === undefined;
      return name === rootKeyField && !isLost;
    });
  if (!isUnderstood) {
    throw new TypeError('it has other fields or types');
  }
  return settings;
}

function withoutOption(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}

/** Nothing is installed, and no upgrade happens, unless the argument is understood. */
function sourceFromArgument(): RootKeySource | undefined {
  try {
    const source = decodeSettings(msgArgData())?.rootKey[0];
    return source && rootKeySource(source);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return trap(`The argument is (${argumentText}) or none; cannot decode it: ${reason}`);
  }
}

function start(): void {
  const source = sourceFromArgument();
  try {
    setUp(source);
  } catch (error) {
    if (error instanceof Refusal) trap(`${error.code}: ${error.message}`);
    throw error;
  }
}

export class LifecycleActor {
  @init([IDL.Opt(Settings)], { manual: true })
  install(): void {
    start();
    skipUpgrade(stores);
  }

  @postUpgrade([IDL.Opt(Settings)], { manual: true })
  upgrade(): void {
    start();
  }
}
