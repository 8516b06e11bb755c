// The messages of one method of a service, as the replica reports them: what they cost.

import { expect } from 'vitest';
import type { MessageReport } from '../../packages/replica/src/core.ts';
import { changeOf, type Person } from './people.ts';

/** Whether a report is of an update that somebody sent. The canister's timers run at any time. */
export function isSentUpdate({ kind, method }: MessageReport): boolean {
  return kind === 'update' && !method.endsWith('timer_executor');
}

/** Returns the last report of a kind about the method. */
export function lastReportOf(
  reports: readonly MessageReport[],
  method: string,
  kind: string,
): MessageReport {
  const found = reports.findLast((one) => one.kind === kind && one.method === method);
  return found ?? expect.fail(`no ${kind}`);
}

export function printCost(name: string, { instructions, cycles }: MessageReport): void {
  const millions = (count: bigint) => (Number(count) / 1e6).toFixed(1);
  console.log(`${name}: ${millions(instructions)} M instructions, ${millions(cycles)} M cycles`);
}

/** Matches a result that is refused with a code. */
export function refusedAs(code: string) {
  return { err: expect.stringMatching(new RegExp(`^${code}: `)) };
}

/** Runs an action while the service has an empty budget of refusals, then fills the budget. */
export async function withoutRefusals(owner: Person, action: () => Promise<void>): Promise<void> {
  const budget = (burst: bigint, perMinute: bigint) =>
    owner.get('updateAccess', changeOf('updateAccess', { refusals: [{ burst, perMinute }] }));
  await budget(0n, 0n);
  await action();
  await budget(1_000n, 60n);
}
