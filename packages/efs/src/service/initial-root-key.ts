// The source of the root key that `efs service deploy` and `efs volume create` choose for a volume.

import type { CanisterCode } from '../../../client/src/actor/canister-code.ts';
import type { RootKeySource } from '../../../client/src/types/service.ts';
import { printNote } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';

export interface RootKeyFlags {
  readonly rootKey?: string;
  readonly vetkdProxy?: string;
}

/** The environment variable of a canister that names its proxy: docs/how-to/cloud-engine.md. */
const proxyVariable = 'PROXY_CANISTER_ID';

/**
 * Returns undefined for the canister's own choice: vetKD where the network or a proxy offers it,
 * otherwise `stored`. An empty name of a key means the first one that the network has.
 */
export async function rootKeyOf({
  rootKey,
  vetkdProxy,
}: RootKeyFlags): Promise<RootKeySource | undefined> {
  const [, name = ''] = /^vetkd(?::(\w+))?$/.exec(rootKey ?? '') ?? [];
  if (rootKey !== undefined && rootKey !== 'stored' && !/^vetkd(?::\w+)?$/.test(rootKey)) {
    throw new UsageError(`--root-key must be stored, vetkd or vetkd:key_1; got ${rootKey}.`);
  }
  if (rootKey === 'stored' && vetkdProxy !== undefined) {
    throw new UsageError('A stored root key needs no proxy: omit --vetkd-proxy or --root-key.');
  }
  if (rootKey === undefined && vetkdProxy === undefined) return undefined;
  const { isCanisterId } = await import('../../../client/src/connection/canister-id.ts');
  if (vetkdProxy !== undefined && !isCanisterId(vetkdProxy)) {
    throw new UsageError(`--vetkd-proxy must be the id of a canister; got ${vetkdProxy}.`);
  }
  return rootKey === 'stored' ? rootKey : { vetkd: name, proxy: vetkdProxy };
}

/**
 * Refuses vetKD for an empty canister on a cloud engine that has no proxy, because its key would
 * never arrive. Says so if the key will be stored there.
 */
export async function checkProxy(
  code: CanisterCode,
  { canisterId, again }: { readonly canisterId: string; readonly again: string },
  rootKey: RootKeySource | undefined,
): Promise<void> {
  if (rootKey === 'stored' || rootKey?.proxy !== undefined) return;
  const { cycles, cyclesPerDay, environment } = await code.state(canisterId);
  // Everywhere else a canister without cycles cannot be installed
  const isOnEngine = cycles === 0 && cyclesPerDay === 0;
  if (!isOnEngine || environment[proxyVariable] !== undefined) return;
  const missing =
    `${canisterId} is on a cloud engine, which has no vetKD, and no proxy is named that asks ` +
    'another subnet for its key';
  if (rootKey !== undefined) {
    throw new UsageError(
      `${missing}, so nothing was installed: add --vetkd-proxy <canister id>, or choose ` +
        `--root-key stored, and continue with ${again}.`,
    );
  }
  printNote(
    `${missing}: a volume stores its root key itself, which protects less. To change that later, ` +
      'run efs rotate root --source vetkd:key_1 --proxy <canister id>.',
  );
}
