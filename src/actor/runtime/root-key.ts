// Makes the root keys available after install and upgrade: one derivation at a time, on a timer or
// by the first message that needs a key, with growing delays after failures. It does not know how a
// key is derived; its log contains the network's error texts.

import { time } from 'azle';
import { areRootKeysAtHand, missingRootKeys } from '../../domain/keys/root-keys.ts';
import { isCleanup, reasonOf } from './management.ts';
import { reseed } from './random-refresh.ts';
import { fetchMissing, type Parts } from './root-key-derivation.ts';
import { createOneShotTimer } from './timers.ts';

const nsPerSecond = 1_000_000_000n;
/** After this time, a derivation without an answer no longer prevents another one. */
const staleAfterSeconds = 120;
const retrySecondsMin = 10;
const retrySecondsMax = 600;
/** Each turn is a call of the waiting message itself, which takes one or two network rounds. */
const waitingTurnsMax = 60;

export interface RootKeyKeeper {
  /**
   * Fetches missing keys soon, on a timer: for init and post_upgrade, which cannot call canisters,
   * and for a new version of a key.
   */
  start(): void;
  /** Arms the timer again if a key is missing and no attempt is running: for upkeep. */
  resume(): void;
  /** Whether every root key in use is available. */
  areAtHand(): boolean;
  /** Whether fresh random bytes are available too. */
  isReady(): boolean;
  /**
   * Returns `undefined` when ready, else a promise that a message awaits before it checks anything.
   * It resolves even without a key, so that the domain refuses. It rejects only in the cleanup of a
   * callback that trapped, when the message is over.
   */
  whenReady(): Promise<void> | undefined;
}

interface State {
  /** Start of a running derivation. */
  busySinceNs: bigint | undefined;
  /** Earliest time of the next attempt after a failure. */
  retryAtNs: bigint;
  failures: number;
}

/** Calls `onFetched` after all keys have arrived. */
export function createRootKeyKeeper(parts: Parts, onFetched: () => void): RootKeyKeeper {
  const { stores, random } = parts;
  const state: State = { busySinceNs: undefined, retryAtNs: 0n, failures: 0 };
  const timer = createOneShotTimer(onTimer);
  const isReady = () => random.isFresh(time()) && areRootKeysAtHand(stores);
  const isWorkLeft = () => !random.isFresh(time()) || missingRootKeys(stores).length > 0;

  async function fetchAll(): Promise<void> {
    const startedNs = time();
    state.busySinceNs = startedNs;
    try {
      await fetchMissing(parts);
      state.failures = 0;
      onFetched();
    } catch (error) {
      state.failures += 1;
      const seconds = retrySeconds(state.failures);
      state.retryAtNs = time() + BigInt(seconds) * nsPerSecond;
      timer.arm(seconds);
      if (isCleanup(error)) throw error;
      console.log(`Cannot fetch the root key: ${reasonOf(error)}. Next try in ${seconds} s.`);
    } finally {
      if (state.busySinceNs === startedNs) state.busySinceNs = undefined;
    }
  }

  async function onTimer(): Promise<void> {
    if (isBusy(state)) {
      // A running attempt may never get an answer.
      timer.arm(staleAfterSeconds);
    } else if (isWorkLeft()) {
      await fetchAll();
    }
  }

  async function wait(): Promise<void> {
    for (let turn = 0; turn < waitingTurnsMax && !isReady(); turn++) {
      if (!isBusy(state)) {
        if (time() < state.retryAtNs) return;
        await fetchAll();
      } else if (!(await pause(parts))) {
        return;
      }
    }
  }

  return {
    start() {
      Object.assign(state, { retryAtNs: 0n, failures: 0 });
      timer.arm();
    },
    resume() {
      if (isBusy(state) || missingRootKeys(stores).length === 0) return;
      const waitNs = state.retryAtNs - time();
      timer.arm(waitNs > 0n ? Number(waitNs / nsPerSecond) + 1 : 0);
    },
    areAtHand: () => areRootKeysAtHand(stores),
    isReady,
    whenReady() {
      return isReady() ? undefined : wait();
    },
  };
}

/**
 * Waits by a call of this message, because a message that awaited another message's derivation
 * would continue, and reply, inside that one. Returns false if the call failed.
 */
async function pause({ random }: Parts): Promise<boolean> {
  try {
    await reseed(random);
    return true;
  } catch (error) {
    if (isCleanup(error)) throw error;
    return false;
  }
}

function isBusy({ busySinceNs }: State): boolean {
  return busySinceNs !== undefined && !isLongAgo(busySinceNs);
}

function isLongAgo(timeNs: bigint): boolean {
  return time() - timeNs > BigInt(staleAfterSeconds) * nsPerSecond;
}

function retrySeconds(failures: number): number {
  return Math.min(retrySecondsMax, retrySecondsMin * 2 ** (failures - 1));
}
