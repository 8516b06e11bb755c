// The frame of every actor method: who calls, and refusals as Candid errors. Anything else that is
// thrown is a defect and traps, so that the system rolls the message back.

import type { Call } from '../domain/shared/caller.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { isController, msgCaller, time } from './system.ts';

export type Result<T> = { ok: T } | { err: string };

export function currentCall(): Call {
  const principal = msgCaller();
  const caller = { principal, isController: isController(principal) };
  return { caller, nowNs: time() };
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

/** How a refusal is written in Candid. */
export function errorText({ code, message }: Refusal): string {
  return `${code}: ${message}`;
}
