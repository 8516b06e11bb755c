// The check of `efs doctor` for room: the network bounds the stable memory of a canister, and on a
// full subnet reserves cycles of the canister for new memory, up to a limit of its settings.

import type { CanisterState } from '../../../client/src/actor/canister-code.ts';
import { actorConnection } from '../../../client/src/storage.ts';
import { formatBytes } from '../output/output.ts';
import { openCaller, retry } from './doctor-rights.ts';
import type { DoctorCase, Fault, Finding } from './finding.ts';

/** The network's limit for a canister. */
const stableBytesMax = 500 * 2 ** 30;
/** From this share of a limit on, a canister counts as nearly full. */
export const fullShare = 0.8;

type ReservationFigures = Pick<CanisterState, 'reservedCycles' | 'reservedCyclesLimit'>;

/** Undefined for callers who are not controllers. */
type Reservation = ReservationFigures | undefined;

const trillions = (cycles: number) => `${(cycles / 1e12).toFixed(2)} T`;

/** Returns the problem of a canister of which the network reserves nearly all that it may. */
export function reservationFaults(canisterId: string, state: Reservation): Fault[] {
  if (state === undefined || state.reservedCycles === 0) return [];
  const { reservedCycles, reservedCyclesLimit } = state;
  if (reservedCycles < fullShare * reservedCyclesLimit) return [];
  return [
    {
      problem:
        `The network reserves ${trillions(reservedCycles)} cycles of ${canisterId} for its memory, ` +
        `and may reserve ${trillions(reservedCyclesLimit)}: then it cannot grow.`,
      advice:
        `Raise reserved_cycles_limit (icp canister settings update ${canisterId} ` +
        '--reserved-cycles-limit), or add a volume on a subnet with less than 750 GiB.',
    },
  ];
}

export function judgeRoom(
  canisterId: string,
  stableBytes: number,
  reservation: Reservation,
): Finding {
  const message = `${formatBytes(stableBytes)} of ${formatBytes(stableBytesMax)} of stable memory.`;
  const faults = reservationFaults(canisterId, reservation);
  if (stableBytes >= fullShare * stableBytesMax) {
    const advice = 'Store new files on another canister: docs/how-to/grow.md says how.';
    faults.unshift({ problem: `Nearly full: ${message}`, advice });
  }
  if (faults.length === 0) return { isGood: true, message };
  return {
    isGood: false,
    message: faults.map(({ problem }) => problem).join(' '),
    advice: faults.map(({ advice }) => advice).join(' '),
  };
}

export async function checkRoom({ configuration }: DoctorCase): Promise<Finding> {
  const { front, host, canisterId, timeoutMs } = configuration;
  if (front !== undefined) {
    return { isGood: undefined, message: 'Each canister of the service has its own.' };
  }
  const caller = await openCaller(configuration).catch(() => undefined);
  if (caller === undefined || host === undefined || canisterId === undefined) {
    return { isGood: undefined, message: 'Not checked: no identity is given.' };
  }
  const { stableBytes } = await caller.storage.status();
  const { openCanisterCode } = await import('../../../client/src/actor/canister-code.ts');
  const { identity } = caller;
  const code = await openCanisterCode(
    actorConnection({ host, canisterId, identity, timeoutMs, retry }),
  );
  const state = await code.state(canisterId).catch(() => undefined);
  return judgeRoom(canisterId, stableBytes, state);
}
