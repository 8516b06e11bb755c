// Checks of `efs doctor` for a service with a front: one finding for the front and one for each of
// its volumes.

import type {
  CanisterCode,
  CanisterState,
  CertifiedCode,
} from '../../../client/src/actor/canister-code.ts';
import { createNodeServiceStorage, createNodeStorage } from '../../../client/src/node/storage.ts';
import { actorConnection } from '../../../client/src/storage.ts';
import type { ServiceStatus, ServiceVolume } from '../../../client/src/types/service.ts';
import { engineLimit, limitOf, type Prices } from '../../../wire/src/metrics/room.ts';
import type { Configuration } from '../config/config.ts';
import { sayFailure } from '../output/exit-code.ts';
import { formatBytes, formatCycles } from '../output/output.ts';
import { formatTime } from '../output/times.ts';
import { isOlder } from '../upgrade/module-file.ts';
import { daysMin, daysShownMax, topUpOf, upgradeFaults } from './doctor-cycles.ts';
import { openCaller, retry } from './doctor-rights.ts';
import { fullShare, reservationFaults } from './doctor-room.ts';
import { type Fault, type Finding, failed, faultOf } from './finding.ts';

/** Answers of one canister; those that it or the network did not give are undefined. */
export interface CanisterFacts {
  readonly canisterId: string;
  /** Why the canister does not answer. */
  readonly fault?: Fault | undefined;
  readonly code?: CertifiedCode | undefined;
  /** Only controllers see it. */
  readonly state?: CanisterState | undefined;
  /** False where the subnet charges nothing; undefined if the canister did not report it. */
  readonly chargesCycles?: boolean | undefined;
  /** The front's record, for a volume. */
  readonly volume?: ServiceVolume | undefined;
}

export async function* checkCanisters(
  configuration: Configuration,
  front: string,
): AsyncGenerator<[string, Finding]> {
  const { host, timeoutMs } = configuration;
  if (host === undefined) return;
  const caller = await openCaller(configuration).catch(() => undefined);
  const options = { host, identity: caller?.identity, timeoutMs, retry };
  const { openCanisterCode } = await import('../../../client/src/actor/canister-code.ts');
  const ask = async (canisterId: string, volume?: ServiceVolume): Promise<CanisterFacts> => {
    const place = { ...options, canisterId };
    const answer = createNodeStorage(place).status().then(pricesIn, faultIn);
    const code = openCanisterCode(actorConnection(place)).then((calls) => codeOf(calls, place));
    return { canisterId, volume, ...(await answer), ...(await code.catch(() => ({}))) };
  };
  const asked = ask(front);
  let volumes: readonly ServiceVolume[] = [];
  let unlisted: unknown;
  try {
    volumes = await createNodeServiceStorage({ ...options, front }).volumes.list();
  } catch (error) {
    unlisted = error;
  }
  const all = await Promise.all([asked, ...volumes.map((one) => ask(one.canisterId, one))]);
  const newest = newestOf(all);
  for (const facts of all) {
    yield [facts.volume ? 'volume' : 'front', judge(facts, { newest, nowMs: Date.now() })];
  }
  if (unlisted !== undefined) yield ['volumes', failed(unlisted)];
}

function pricesIn({ chargesCycles }: ServiceStatus): Prices {
  return { chargesCycles };
}

function faultIn(error: unknown): Pick<CanisterFacts, 'fault'> {
  const advice = 'Check the canister with efs service status, and try again.';
  const problem = `Does not answer: ${sayFailure(error)}`;
  return { fault: faultOf(error) ?? { problem, advice } };
}

async function codeOf(
  calls: CanisterCode,
  { canisterId }: { readonly canisterId: string },
): Promise<Pick<CanisterFacts, 'code' | 'state'>> {
  const code = await calls.read(canisterId);
  if (!code.controllers.includes(calls.caller)) return { code };
  return { code, state: await calls.state(canisterId).catch(() => undefined) };
}

function newestOf(all: readonly CanisterFacts[]): string | undefined {
  const versions = all.flatMap(({ code }) => code?.version ?? []);
  return versions.reduce<string | undefined>(
    (newest, version) => (newest === undefined || isOlder(newest, version) ? version : newest),
    undefined,
  );
}

interface Surroundings {
  /** The newest version that a canister of the service runs. */
  readonly newest: string | undefined;
  readonly nowMs: number;
}

/** Returns the finding on one canister, with all of its problems. */
export function judge(facts: CanisterFacts, surroundings: Surroundings): Finding {
  const { canisterId, volume, code, state } = facts;
  const faults = [
    ...(facts.fault === undefined ? [] : [facts.fault]),
    ...versionFaults(facts, surroundings),
    ...cyclesFaults(facts),
    ...upgradeFaults(canisterId, state),
    ...reservationFaults(canisterId, state),
    ...(volume === undefined ? [] : volumeFaults(facts, volume, surroundings)),
  ];
  if (faults.length > 0) {
    const message = faults.map(({ problem }) => problem).join(' ');
    const advice = [...new Set(faults.map((fault) => fault.advice))].join(' ');
    const shown = message.includes(canisterId) ? message : `${canisterId}: ${message}`;
    return { isGood: false, message: shown, advice, canisterId };
  }
  const parts = [
    ...(code?.version === undefined ? [] : [`version ${code.version}`]),
    ...(volume === undefined ? [] : [volume.state, sayRoom(facts, volume)]),
    ...(state === undefined ? [] : [sayCycles(state)]),
  ];
  const message = `${canisterId}: ${parts.join(', ') || 'answers'}.`;
  if (volume?.state !== 'closed') return { isGood: true, message, canisterId };
  const advice = `It gets no new buckets; efs volume open ${canisterId} ends that.`;
  return { isGood: undefined, message, advice, canisterId };
}

function versionFaults({ code }: CanisterFacts, { newest }: Surroundings): Fault[] {
  if (code?.moduleHash === undefined || newest === undefined || code.version === newest) return [];
  const version = code.version ?? '0.2.0 or earlier';
  return [
    {
      problem: `Runs version ${version}, and another canister of the service ${newest}.`,
      advice: 'Upgrade the service: efs service upgrade <module>.',
    },
  ];
}

/** Returns Infinity where the subnet charges nothing. */
function daysOf({ cycles, cyclesPerDay }: CanisterState): number {
  return cyclesPerDay > 0 ? Math.floor(cycles / cyclesPerDay) : Number.POSITIVE_INFINITY;
}

function sayCycles(state: CanisterState): string {
  const days = daysOf(state);
  return Number.isFinite(days) ? `cycles for ${sayDays(days)}` : 'no charge for cycles';
}

function sayDays(days: number): string {
  return days > daysShownMax ? 'more than ten years' : `${days} days`;
}

function cyclesFaults({ canisterId, state }: CanisterFacts): Fault[] {
  const days = state === undefined ? daysMin : daysOf(state);
  if (days >= daysMin) return [];
  return [
    {
      problem: `Its cycles pay for ${days} days of storage.`,
      advice: `Top it up: ${topUpOf(canisterId)}; or let the front do it: efs top-up set.`,
    },
  ];
}

/** A volume reports every day. */
const silentMsMax = 2 * 86_400_000;

function sayRoom(prices: Prices, volume: ServiceVolume): string {
  const limit = limitOf(prices, volume);
  const room = limit === undefined ? `; ${engineLimit}` : ` of ${formatBytes(limit)}`;
  return `${formatBytes(volume.stableBytes)}${room}`;
}

function volumeFaults(
  prices: Prices,
  volume: ServiceVolume,
  { nowMs }: Pick<Surroundings, 'nowMs'>,
): Fault[] {
  const { canisterId, state, reservedCycles, reportedAt } = volume;
  const faults: Fault[] = [];
  if (state === 'unknown') {
    faults.push({
      problem: 'The front waits for its first report, and creates no buckets meanwhile.',
      advice: `If this lasts longer than an hour, run efs volume add ${canisterId} again.`,
    });
  } else if (reportedAt !== undefined && nowMs - Date.parse(reportedAt) > silentMsMax) {
    faults.push({
      problem: `Its last report to the front was at ${formatTime(reportedAt)}.`,
      advice: `Volumes report every day: run efs volume add ${canisterId} to repeat it now.`,
    });
  }
  if (state !== 'closed' && reservedCycles > 0) {
    faults.push({
      problem:
        `Full: the network keeps ${formatCycles(reservedCycles)} for its growth, ` +
        'because its subnet has little room.',
      advice: 'Add a volume on another subnet: efs volume create <module> --subnet <id>.',
    });
  } else if (state !== 'closed' && isNearlyFull(prices, volume)) {
    const word = state === 'full' ? 'Full' : 'Nearly full';
    faults.push({
      problem: `${word}: ${sayRoom(prices, volume)}.`,
      advice: `Add a volume (efs volume create <module>), or efs volume set ${canisterId} --limit.`,
    });
  }
  return faults;
}

function isNearlyFull(prices: Prices, volume: ServiceVolume): boolean {
  const { state, stableBytes } = volume;
  const limit = limitOf(prices, volume) ?? Number.POSITIVE_INFINITY;
  return state === 'full' || stableBytes >= fullShare * limit;
}
