// The frame of every actor method: the caller, and refusals as Candid errors. Any other exception
// is a defect and traps, so that the system rolls the message back.

import { Principal } from '@dfinity/principal';
import type { Call, KeyCharge } from '../../domain/shared/caller.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { isController, msgCaller, time } from './system.ts';

export type Result<T> = { ok: T } | { err: string };

let charge: KeyCharge | undefined;

/** Runs an update. A sent API key pays for it, which the charge then says. */
export function asUpdate<T>(charged: KeyCharge, run: () => T): T {
  charge = charged;
  try {
    return run();
  } finally {
    charge = undefined;
  }
}

/**
 * Returns the call that is being executed, with the present time. Updates read it once onceReady()
 * runs them, and before they await anything else.
 */
export function currentCall(): Call {
  const principal = msgCaller();
  const caller = { principal, isController: isController(principal) };
  return { caller, nowNs: time(), charge };
}

/** Returns the caller's principal as text. */
export function callerId(): string {
  return Principal.fromUint8Array(msgCaller()).toText();
}

export function answer<T>(operation: () => T): Result<T> {
  try {
    return { ok: operation() };
  } catch (error) {
    return refused(error);
  }
}

function refused(error: unknown): { err: string } {
  if (error instanceof Refusal) {
    return { err: errorText(error) };
  }
  throw error;
}

export function errorText({ code, message }: Refusal): string {
  return `${code}: ${message}`;
}
