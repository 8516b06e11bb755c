// Sets up canisters of a service: creates one, installs the module, adds it to the front. Each step
// is skipped if an interrupted run has already done it.

import { type Command, Option } from 'commander';
import type { CanisterCode } from '../../../client/src/actor/canister-code.ts';
import type { ServiceStorage } from '../../../client/src/service-storage.ts';
import type { RootKeySource } from '../../../client/src/types/service.ts';
import { cycleCount, json, wholeNumber } from '../config/flags.ts';
import type { Run } from '../config/run.ts';
import { printNote } from '../output/output.ts';
import type { ModuleFile } from '../upgrade/module-file.ts';
import { requireController } from '../upgrade/require-controller.ts';
import { checkProxy, type RootKeyFlags, rootKeyOf } from './initial-root-key.ts';
import { createCanister } from './new-canister.ts';

export interface SetUpFlags extends RootKeyFlags {
  readonly cycles: number;
  readonly subnet?: string;
  readonly payer?: string;
  readonly canister?: string;
  readonly wait: number;
}

const waitSeconds = 120;

export function addSetUpFlags(command: Command): Command {
  return command
    .addOption(cyclesOption('--cycles <cycles>', 'cycles for the new volume', '3T'))
    .option('--subnet <id>', 'the subnet of new canisters')
    .option('--payer <name>', 'the identity of icp-cli that pays, on the network')
    .option('--root-key <source>', "source of the volume's root key: stored, vetkd or vetkd:NAME")
    .option('--vetkd-proxy <id>', 'the canister that asks for the root key, on a cloud engine')
    .option('--wait <seconds>', 'time for the first report to the front', wholeNumber, waitSeconds)
    .addOption(json());
}

export function cyclesOption(flag: string, description: string, byDefault: string): Option {
  const option = new Option(flag, description).argParser(cycleCount);
  return option.default(cycleCount(byDefault), byDefault);
}

export interface SetUp {
  readonly run: Run;
  readonly code: CanisterCode;
  readonly module: ModuleFile;
  readonly flags: SetUpFlags;
  /** Undefined: the volume's own choice. */
  readonly rootKey: RootKeySource | undefined;
}

/** Fails before anything is created if the module or the identity cannot be used. */
export async function setUpOf(run: Run, file: string, flags: SetUpFlags): Promise<SetUp> {
  const rootKey = await rootKeyOf(flags);
  const { readModule } = await import('../upgrade/module-file.ts');
  const module = readModule(file);
  return { run, code: await run.code(), module, flags, rootKey };
}

export interface WantedCanister {
  readonly role: 'volume' | 'front';
  /** Cycles for a new canister. */
  readonly cycles: number;
  /** The canister of an interrupted run. */
  readonly canisterId: string | undefined;
  /** The command that continues with a canister of this id. */
  readonly again: (canisterId: string) => string;
}

/** Returns the id of a canister with the module, which it creates unless one is named. */
export async function bringCanister(setUp: SetUp, wanted: WantedCanister): Promise<string> {
  const { run, code, module, flags } = setUp;
  const { role, again } = wanted;
  let { canisterId } = wanted;
  if (canisterId === undefined) {
    const { subnet, payer } = flags;
    const { cycles } = wanted;
    canisterId = await createCanister(code, run.host ?? '', { cycles, subnet, payer, again });
    printNote(
      `Created ${canisterId} for the ${role}. If this run ends early, continue with the same ` +
        `settings and ${again(canisterId)}.`,
    );
  }
  const certified = await code.read(canisterId);
  requireController(code, canisterId, certified, 'installed');
  const { moduleHash } = certified;
  if (moduleHash === undefined) {
    await checkProxy(code, { canisterId, again: again(canisterId) }, setUp.rootKey);
    const rootKey = role === 'volume' ? setUp.rootKey : undefined;
    await code.install(canisterId, module.bytes, { role, rootKey });
  } else if (moduleHash !== module.hash) {
    throw new Error(
      `${canisterId} has other code (SHA-256 ${moduleHash}), which is never overwritten: name an ` +
        `empty canister, or one with the code of ${module.name} (${module.hash}).`,
    );
  }
  return canisterId;
}

const pauseMs = 1_000;

/** Adds the volume to the front's list and waits for its first report. */
export async function addVolume(
  { run, flags }: SetUp,
  { volumes }: ServiceStorage,
  canisterId: string,
): Promise<void> {
  await volumes.add(canisterId);
  const end = Date.now() + 1_000 * flags.wait;
  for (;;) {
    const listed = await volumes.list();
    const { state = 'unknown' } = listed.find((one) => one.canisterId === canisterId) ?? {};
    if (state !== 'unknown') return;
    run.signal.throwIfAborted();
    if (Date.now() >= end) {
      throw new Error(
        `The volume ${canisterId} is in the list of the front, but has reported nothing within ` +
          `${flags.wait} s, so the front creates no buckets. It reports within an hour: see efs ` +
          'volume ls and efs doctor.',
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
