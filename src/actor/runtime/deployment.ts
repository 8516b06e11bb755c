// The ids of this canister and of others that the same tool deployed. Tools such as icp-cli set
// environment variables with the id of each canister of a project, by name.

import { Principal } from '@dfinity/principal';
import { canisterSelf, trap } from 'azle';
import type { RoleSettings } from '../../domain/administration/service-role.ts';
import { readEnvironment } from '../../storage/environment.ts';

export function deployment(): Pick<RoleSettings, 'id' | 'deployed'> {
  const deployed = { front: deployedId('front'), volume: deployedId('file_storage') };
  return { id: canisterSelf().toText(), deployed };
}

/** Returns the canister that asks the network's vetKD for this one; '' without one. */
export function deployedProxy(): string {
  return readId('PROXY_CANISTER_ID') ?? '';
}

function deployedId(name: string): string | undefined {
  return readId(`PUBLIC_CANISTER_ID:${name}`);
}

function readId(variable: string): string | undefined {
  const text = readEnvironment(variable);
  if (text === undefined) return undefined;
  try {
    return Principal.fromText(text).toText();
  } catch {
    return trap(
      `The environment variable ${variable} is not a canister id: set one, or remove it.`,
    );
  }
}
