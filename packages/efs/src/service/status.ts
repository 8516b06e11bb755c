// `efs status`: prints the status of the service, and how long its cycles last.

import { topUpCommand } from '../../../client/src/connection/network-errors.ts';
import type { ServiceStatus } from '../../../client/src/types/service.ts';
import { daysLeft } from '../../../wire/src/metrics/room.ts';
import type { Run } from '../config/run.ts';
import { printJson, printNote } from '../output/output.ts';
import { printRecord } from '../transfers/list.ts';

const few = 90;

/** Returns advice to top up; undefined while there are enough cycles. */
export function topUpHint(status: ServiceStatus, canisterId: string): string | undefined {
  const days = daysLeft(status);
  if (days === undefined || days > few) return undefined;
  const command = topUpCommand({ id: canisterId, icp: ' -n ic', dfx: ' --network ic' });
  return `The cycles pay for storage for ${days} days more. Top up: ${command}.`;
}

/** Calls the actor if there is an identity, because only owners and controllers see the cycles. */
export async function status(run: Run, { json }: { json?: boolean }): Promise<void> {
  const figures = await (await run.serviceAdmin()).status({ signal: run.signal });
  if (json) {
    printJson(figures);
    return;
  }
  const days = daysLeft(figures);
  printRecord({ ...figures, ...(days !== undefined && { daysOfStorage: days }) });
  const hint = topUpHint(figures, run.canisterId ?? '<canister id>');
  if (hint !== undefined) printNote(hint);
}
