// The check of `efs doctor` for room: the network bounds the stable memory of a canister, and on a
// full subnet reserves cycles of the canister for new memory, up to a limit of its settings.

import type { ServiceStatus } from '../../../client/src/types/service.ts';
import { engineLimit, limitOf } from '../../../wire/src/metrics/room.ts';
import { formatBytes } from '../output/output.ts';
import { formatTime } from '../output/times.ts';
import { openCaller, stateOf } from './doctor-rights.ts';
import type { DoctorCase, Fault, Finding } from './finding.ts';

/** From this share of a limit on, a canister counts as nearly full. */
export const fullShare = 0.8;

export interface Reservation {
  readonly reservedCycles: number;
  readonly reservedCyclesLimit: number;
  /** Time of the canister's own reading; absent for a present one. */
  readonly readAt?: string;
}

const trillions = (cycles: number) => `${(cycles / 1e12).toFixed(2)} T`;

function sayReservation({ reservedCycles, readAt }: Reservation): string {
  const when = readAt === undefined ? '' : ` (at ${formatTime(readAt)})`;
  return `reserves ${trillions(reservedCycles)} cycles${when}`;
}

/** Returns the problem of a canister of which the network reserves nearly all that it may. */
export function reservationFaults(canisterId: string, state: Reservation | undefined): Fault[] {
  if (state === undefined || state.reservedCycles === 0) return [];
  const { reservedCycles, reservedCyclesLimit } = state;
  if (reservedCycles < fullShare * reservedCyclesLimit) return [];
  return [
    {
      problem:
        `The network ${sayReservation(state)} of ${canisterId} for its memory, ` +
        `and may reserve ${trillions(reservedCyclesLimit)}: then it cannot grow.`,
      advice:
        `Raise reserved_cycles_limit (icp canister settings update ${canisterId} ` +
        '--reserved-cycles-limit), or add a volume on a subnet with less than 750 GiB.',
    },
  ];
}

type RoomStatus = Pick<ServiceStatus, 'stableBytes' | 'chargesCycles'>;

/** `reservation`: undefined where the caller may not see it. */
export function judgeRoom(
  canisterId: string,
  { stableBytes, chargesCycles }: RoomStatus,
  reservation: Reservation | undefined,
): Finding {
  const limit = limitOf({ chargesCycles });
  if (limit === undefined) {
    const message = `${formatBytes(stableBytes)} of stable memory; ${engineLimit}.`;
    return { isGood: true, message };
  }
  const message = `${formatBytes(stableBytes)} of ${formatBytes(limit)} of stable memory.`;
  const faults = reservationFaults(canisterId, reservation);
  if (stableBytes >= fullShare * limit) {
    const advice = 'Store new files on another canister: docs/how-to/grow.md says how.';
    faults.unshift({ problem: `Nearly full: ${message}`, advice });
  }
  if (faults.length > 0) {
    return {
      isGood: false,
      message: faults.map(({ problem }) => problem).join(' '),
      advice: faults.map(({ advice }) => advice).join(' '),
    };
  }
  if (reservation === undefined || reservation.reservedCycles === 0) {
    return { isGood: true, message };
  }
  const most = trillions(reservation.reservedCyclesLimit);
  const more = `The network ${sayReservation(reservation)} for it, of at most ${most}.`;
  return { isGood: true, message: `${message} ${more}` };
}

/** Returns the reservation as the canister has read it, for owners who are not controllers. */
function ownReading({ storageReservation: own }: ServiceStatus): Reservation | undefined {
  if (own === undefined) return undefined;
  const { reservedCycles, limitCycles: reservedCyclesLimit, readAt } = own;
  return { reservedCycles, reservedCyclesLimit, readAt };
}

export async function checkRoom({ configuration }: DoctorCase): Promise<Finding> {
  const { front, host, canisterId } = configuration;
  if (front !== undefined) {
    return { isGood: undefined, message: 'Each canister of the service has its own.' };
  }
  const caller = await openCaller(configuration).catch(() => undefined);
  if (caller === undefined || host === undefined || canisterId === undefined) {
    return { isGood: undefined, message: 'Not checked: no identity is given.' };
  }
  const status = await caller.storage.status();
  const state = await stateOf(configuration);
  return judgeRoom(canisterId, status, state ?? ownReading(status));
}
