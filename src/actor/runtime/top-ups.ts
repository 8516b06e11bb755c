// A front's top-ups of its volumes: by its limits when a volume has reported few cycles, and on
// request of a controller.

import { Principal } from '@dfinity/principal';
import { time } from 'azle';
import {
  dueTopUp,
  forgetTopUp,
  isAnyLow,
  recordTopUp,
  type TopUp,
} from '../../domain/administration/top-ups.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import type { Stores } from '../../domain/shared/stores.ts';
import { liquidCycles } from '../../storage/stable-space.ts';
import { errorText, type Result } from './call.ts';
import { depositCycles, isCleanup, isWithoutEffect, reasonOf } from './management.ts';
import { createOneShotTimer } from './timers.ts';

/** Pause before a volume that the limits did not allow to top up is looked at again. */
const pauseSeconds = 3_600;

export interface TopUps {
  /** Tops up volumes soon if the limits allow it: after reports, new limits and upgrades. */
  arm(): void;
  /** Sends the cycles now. */
  send(topUp: TopUp): Promise<Result<null>>;
}

export function createTopUps(stores: Stores): TopUps {
  const timer = createOneShotTimer(work);

  function arm(delaySeconds = 0): void {
    if (isAnyLow(stores)) timer.arm(delaySeconds);
  }

  /** Sends one top-up after another, until the limits allow no more. */
  async function work(): Promise<void> {
    const due = dueTopUp(stores, { nowNs: time(), spendable: liquidCycles() });
    // Armed before the call, whose end may be lost
    arm(due === undefined ? pauseSeconds : 0);
    if (due === undefined) return;
    const outcome = await send(due);
    if ('err' in outcome) console.log(outcome.err);
  }

  async function send(topUp: TopUp): Promise<Result<null>> {
    const { volumeId, cycles } = topUp;
    recordTopUp(stores, topUp);
    try {
      await depositCycles(Principal.fromText(volumeId), BigInt(cycles));
      return { ok: null };
    } catch (error) {
      if (isCleanup(error)) throw error;
      if (isWithoutEffect(error)) forgetTopUp(stores, topUp, time());
      const reason = `Cannot send ${cycles} cycles to the volume ${volumeId}: ${reasonOf(error)}.`;
      return { err: errorText(new Refusal('ServiceUnavailable', reason)) };
    }
  }

  return { arm: () => arm(), send };
}
