// The upgrade of a service's canisters, one after another: volumes first, the front last. The first
// failure ends it, and the failed canister gets its former code and state back.

import type { CanisterCode, CertifiedCode } from '../../../client/src/actor/canister-code.ts';
import { isOlder, type ModuleFile } from './module-file.ts';
import { requireController } from './require-controller.ts';
import { readNote, removeNote, saveNote } from './upgrade-note.ts';

export interface ServiceCanister {
  readonly canisterId: string;
  readonly role: 'volume' | 'front' | 'canister';
}

export interface UpgradeTools {
  readonly code: CanisterCode;
  /** The id of the front, or of the only canister. */
  readonly service: string;
  /** Fails if the canister does not work. */
  check(canister: ServiceCanister, module: ModuleFile): Promise<void>;
  say(text: string): void;
}

export interface UpgradeOutcome extends ServiceCanister {
  readonly result: 'upgraded' | 'unchanged' | 'restored' | 'failed' | 'not upgraded';
}

export interface UpgradeEnd {
  readonly outcomes: readonly UpgradeOutcome[];
  /** The error that ended the upgrade. */
  readonly failure: unknown;
}

/** Upgrades all canisters. `keepsFailed`: leaves a failed canister as it is, for inspection. */
export async function upgradeAll(
  tools: UpgradeTools,
  canisters: readonly ServiceCanister[],
  { module, keepsFailed = false }: { readonly module: ModuleFile; readonly keepsFailed?: boolean },
): Promise<UpgradeEnd> {
  await refuseUnfinished(tools);
  const codes = await Promise.all(canisters.map(({ canisterId }) => tools.code.read(canisterId)));
  for (const [index, canister] of canisters.entries()) {
    refuse(tools, canister, codes[index] as CertifiedCode, module);
  }
  const outcomes: UpgradeOutcome[] = [];
  let failure: unknown;
  for (const [index, canister] of canisters.entries()) {
    const add = (result: UpgradeOutcome['result']) => outcomes.push({ ...canister, result });
    if (failure !== undefined) {
      add('not upgraded');
    } else if (codes[index]?.moduleHash === module.hash) {
      add('unchanged');
    } else {
      tools.say(`Upgrading the ${canister.role} ${canister.canisterId} to ${module.version} …`);
      try {
        await upgradeOne(tools, canister, module);
        add('upgraded');
      } catch (error) {
        failure = error;
        const isRestored = !keepsFailed && (await restored(tools));
        add(isRestored ? 'restored' : 'failed');
      }
    }
  }
  return { outcomes, failure };
}

async function refuseUnfinished({ service }: UpgradeTools): Promise<void> {
  const note = await readNote(service);
  if (note === undefined) return;
  throw new Error(
    `An earlier upgrade ended before that of ${note.canisterId} was complete: run efs service ` +
      'rollback first.',
  );
}

/** Refuses before anything has changed. */
function refuse(
  { code }: UpgradeTools,
  { canisterId }: ServiceCanister,
  certified: CertifiedCode,
  module: ModuleFile,
): void {
  requireController(code, canisterId, certified, 'upgraded');
  const { version } = certified;
  if (version !== undefined && isOlder(module.version, version)) {
    throw new Error(
      `${module.name} has version ${module.version}, and ${canisterId} runs ${version}, whose data ` +
        'older code cannot read, so nothing was upgraded: give a module of the same or a later ' +
        'version.',
    );
  }
}

async function upgradeOne(
  { code, service, check }: UpgradeTools,
  canister: ServiceCanister,
  module: ModuleFile,
): Promise<void> {
  const { canisterId } = canister;
  await saveNote(service, { canisterId });
  // Stopped before the snapshot, so that no write comes between the two
  await code.stop(canisterId);
  const snapshot = await code.takeSnapshot(canisterId);
  await saveNote(service, { canisterId, snapshot });
  await code.upgrade(canisterId, module.bytes);
  await code.start(canisterId);
  await check(canister, module);
  await code.deleteSnapshot(canisterId, snapshot);
  await removeNote(service);
}

async function restored(tools: UpgradeTools): Promise<boolean> {
  try {
    await rollBack(tools);
    return true;
  } catch (error) {
    tools.say(`The former code could not be restored: ${(error as Error).message}`);
    return false;
  }
}

/**
 * Gives the canister whose upgrade failed or was killed its former code and state, and starts it.
 * Returns its id; undefined if no upgrade is unfinished.
 */
export async function rollBack({ code, service }: UpgradeTools): Promise<string | undefined> {
  const note = await readNote(service);
  if (note === undefined) return undefined;
  const { canisterId, snapshot } = note;
  // Without a snapshot, the upgrade had not begun, or its check had succeeded
  const isThere = snapshot !== undefined && (await code.hasSnapshot(canisterId, snapshot));
  if (isThere) {
    await code.stop(canisterId);
    await code.loadSnapshot(canisterId, snapshot);
  }
  await code.start(canisterId);
  if (isThere) await code.deleteSnapshot(canisterId, snapshot);
  await removeNote(service);
  return canisterId;
}
