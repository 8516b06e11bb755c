// Calls of a front about the cycles that it sends to its volumes.

import type { TopUpLimits as CandidLimits } from '../candid/file_storage.did.ts';
import type { TopUpChange, TopUpLimits, TopUpStatus } from '../types/top-ups.ts';
import { isoTime, optionals } from './candid-records.ts';
import { type ActorConnection, call, openService } from './connection.ts';
import { principalOf } from './volumes.ts';

export interface TopUpCalls {
  get(): Promise<TopUpStatus>;
  change(limits: TopUpChange): Promise<TopUpLimits>;
  send(volume: string, cycles: number): Promise<void>;
}

/** `connection` is that of the front. */
export async function openTopUpCalls(connection: ActorConnection): Promise<TopUpCalls> {
  const { actor } = await openService(connection);
  return {
    async get() {
      const { limits, frontCycles, volumes, last } = await call(undefined, () => actor.getTopUps());
      return {
        limits: limits[0] && limitsOf(limits[0]),
        frontCycles: Number(frontCycles),
        volumes: volumes.map(({ volume, cycles: [cycles], reportedAt: [reportedAt] }) => ({
          volume: volume.toText(),
          cycles: cycles === undefined ? undefined : Number(cycles),
          reportedAt: reportedAt === undefined ? undefined : isoTime(reportedAt),
        })),
        last: last.map(({ at, volume, cycles, cause }) => ({
          at: isoTime(at),
          volume: volume.toText(),
          cycles: Number(cycles),
          cause,
        })),
      };
    },
    async change(limits) {
      const { volumeMinimum, volumeTarget, daily, dailyPerVolume, frontMinimum } = limits;
      const first = { volumeMinimum, volumeTarget, daily };
      const change = optionals({ ...first, dailyPerVolume, frontMinimum });
      return limitsOf(await call(undefined, () => actor.updateTopUps(change)));
    },
    async send(volume, cycles) {
      const [id, amount] = [principalOf(volume), BigInt(cycles)];
      await call(undefined, () => actor.topUpVolume(id, amount));
    },
  };
}

function limitsOf(limits: CandidLimits): TopUpLimits {
  const entries = Object.entries(limits).map(([name, value]) => [name, Number(value)]);
  return Object.fromEntries(entries) as TopUpLimits;
}
