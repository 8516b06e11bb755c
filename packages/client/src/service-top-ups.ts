// Top-ups of a service: its front sends cycles to its volumes. Only its controllers may call this.

import type { TopUpCalls } from './actor/top-ups.ts';
import { onDemand } from './connection/on-demand.ts';
import { type ActorStorageOptions, actorConnection } from './storage.ts';
import type { TopUpChange, TopUpLimits, TopUpStatus } from './types/top-ups.ts';

export interface TopUps {
  /**
   * Returns the limits, the cycles of the front and its volumes, and the last top-ups.
   *
   * @example
   * ```ts
   * const { frontCycles, volumes, last } = await service.topUps.get();
   * console.log(frontCycles, volumes, last);
   * ```
   */
  get(): Promise<TopUpStatus>;
  /**
   * Sets when volumes are topped up and how much the front sends within 24 hours; returns all
   * limits. Those that are not given stay.
   *
   * @example
   * ```ts
   * await service.topUps.change({
   *   volumeMinimum: 2e12,
   *   volumeTarget: 4e12,
   *   daily: 10e12,
   *   dailyPerVolume: 4e12,
   *   frontMinimum: 5e12,
   * });
   * ```
   */
  change(limits: TopUpChange): Promise<TopUpLimits>;
  /**
   * Sends cycles of the front to a volume now, beyond the limits.
   *
   * @example
   * ```ts
   * await service.topUps.send(volumeId, 1e12);
   * ```
   */
  send(volume: string, cycles: number): Promise<void>;
}

export function topUpsOf({
  front,
  ...options
}: Omit<ActorStorageOptions, 'canisterId'> & { readonly front: string }): TopUps {
  const calls = onDemand(async (): Promise<TopUpCalls> => {
    const { openTopUpCalls } = await import('./actor/top-ups.ts');
    return openTopUpCalls(actorConnection({ ...options, canisterId: front }));
  });
  return {
    get: async () => (await calls()).get(),
    change: async (limits) => (await calls()).change(limits),
    send: async (volume, cycles) => (await calls()).send(volume, cycles),
  };
}
