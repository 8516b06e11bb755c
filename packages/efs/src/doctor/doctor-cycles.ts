// The checks of `efs doctor` for cycles: how long they pay for storage, and whether they are enough
// for an upgrade, for which the network reserves more than it costs.

import type { CanisterState } from '../../../client/src/actor/canister-code.ts';
import { topUpCommand } from '../../../client/src/connection/network-errors.ts';
import { daysLeft } from '../../../wire/src/metrics/room.ts';
import { topUpHint } from '../service/status.ts';
import { openCaller, stateOf } from './doctor-rights.ts';
import type { DoctorCase, Fault, Finding } from './finding.ts';

export const daysMin = 30;
export const daysShownMax = 3_650;
const daySeconds = 86_400;

/** Measured with the present module, see docs/operations.md, "Deploy to the network". */
export const upgradeCycles = 302_700_000_000;

const trillions = (cycles: number, digits = 2) => `${(cycles / 1e12).toFixed(digits)} T`;
const upgradeNeed = `An upgrade needs ${trillions(upgradeCycles, 4)} cycles above the freezing reserve`;

export function topUpOf(canisterId: string): string {
  return topUpCommand({ id: canisterId, icp: ' -n ic', dfx: ' --network ic' });
}

type SpendableFigures = Pick<
  CanisterState,
  'cycles' | 'cyclesPerDay' | 'freezingSeconds' | 'reservedCycles'
>;

/**
 * Returns the cycles above the freezing reserve. Reserved cycles pay for storage first (interface
 * specification, "Reserved cycles").
 */
function spendable(state: SpendableFigures): number {
  const reserve = (state.cyclesPerDay / daySeconds) * state.freezingSeconds;
  return state.cycles - Math.max(0, reserve - state.reservedCycles);
}

/** Returns the problem of a canister that has too few cycles for an upgrade. */
export function upgradeFaults(canisterId: string, state: SpendableFigures | undefined): Fault[] {
  // A subnet that charges nothing needs no cycles for an upgrade
  if (state === undefined || state.cyclesPerDay === 0) return [];
  const missing = upgradeCycles - spendable(state);
  if (missing <= 0) return [];
  return [
    {
      problem: `${upgradeNeed}, and ${canisterId} lacks ${trillions(missing, 4)} of them.`,
      advice: `Top it up before the next upgrade: ${topUpOf(canisterId)}.`,
    },
  ];
}

export async function checkCycles({ configuration }: DoctorCase): Promise<Finding> {
  if (configuration.front !== undefined) {
    return { isGood: undefined, message: 'Each canister of the service has its own.' };
  }
  const caller = await openCaller(configuration).catch(() => undefined);
  const status = await caller?.storage.status();
  if (status?.chargesCycles === false) {
    const message = 'Not needed: the subnet charges nothing.';
    return { isGood: true, message };
  }
  const days = status && daysLeft(status);
  if (status?.cycles === undefined || days === undefined) {
    return { isGood: undefined, message: 'Only controllers and bucket owners see the cycles.' };
  }
  const { canisterId = '<canister id>' } = configuration;
  const time = days > daysShownMax ? 'more than ten years' : `${days} days`;
  const [fault] = upgradeFaults(canisterId, await stateOf(configuration));
  const message =
    `${trillions(status.cycles)}, enough for ${time} of storage. ` +
    (fault?.problem ?? `${upgradeNeed}.`);
  if (days >= daysMin && fault === undefined) return { isGood: true, message };
  const hint = days < daysMin ? topUpHint(status, canisterId) : fault?.advice;
  return { isGood: false, message, ...(hint !== undefined && { advice: hint }) };
}
