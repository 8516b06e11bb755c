// `efs subscription`: canisters that receive the changes in a bucket.

import type { Subscription } from '../../../client/src/types/subscriptions.ts';
import type { Run } from '../config/run.ts';
import { type Column, formatTable, printJson, printLine, printResult } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';

export interface SubscriptionFlags {
  readonly canisterId: string;
  readonly method: string;
  readonly prefix?: string;
  readonly kind?: readonly string[];
  readonly after?: number;
}

const columns: readonly Column<Subscription>[] = [
  { title: 'ID', value: ({ id }) => `${id}` },
  { title: 'CANISTER', value: ({ canisterId }) => canisterId },
  { title: 'METHOD', value: ({ method }) => method },
  { title: 'PREFIX', value: ({ prefix }) => prefix },
  { title: 'KINDS', value: ({ kinds }) => kinds.join(',') },
  { title: 'CURSOR', value: ({ cursor }) => `${cursor}` },
  { title: 'STATE', value: stateOf },
];

function stateOf({ pausedAt, failingSince, waitsUntil, error }: Subscription): string {
  const because = error === undefined ? '' : `: ${error}`;
  if (pausedAt !== undefined) return `paused since ${pausedAt}${because}`;
  if (failingSince !== undefined) return `failing since ${failingSince}${because}`;
  return waitsUntil === undefined ? 'ok' : `waits until ${waitsUntil}, by the bounds of a day`;
}

export async function addSubscription(
  run: Run,
  bucket: string,
  { canisterId, method, prefix, kind: kinds, after }: SubscriptionFlags,
): Promise<void> {
  const { subscriptions } = await run.manager();
  const request = { canisterId, method, prefix, kinds, after };
  const { id } = await subscriptions.add(bucket, request);
  printResult({ id }, `${id}`);
}

export async function listSubscriptions(
  run: Run,
  bucket: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const found = await (await run.manager()).subscriptions.list(bucket);
  if (json) printJson(found);
  else if (found.length > 0) printLine(formatTable(found, columns));
}

export async function resumeSubscriptions(
  run: Run,
  bucket: string,
  ids: readonly string[],
): Promise<void> {
  const { subscriptions } = await run.manager();
  for (const id of ids.map(numberOf)) {
    await subscriptions.update(bucket, id, { isPaused: false });
    printResult({ id }, `${id}`);
  }
}

export async function removeSubscriptions(
  run: Run,
  bucket: string,
  ids: readonly string[],
): Promise<void> {
  const { subscriptions } = await run.manager();
  for (const id of ids.map(numberOf)) {
    await subscriptions.remove(bucket, id);
    printResult({ id }, `${id}`);
  }
}

function numberOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(
    `${JSON.stringify(text)} is not the id of a subscription: efs subscription ls shows them.`,
  );
}
