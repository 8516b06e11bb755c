// Which budget pays for the update of an HTTP request. A good API key for the bucket in the URL
// needs none.

import {
  type BudgetName,
  isBudgetLeft,
  spendBudget,
  spentBudget,
} from '../domain/access/budgets.ts';
import { opensLink } from '../domain/files/link-access.ts';
import type { Call } from '../domain/shared/caller.ts';
import type { Refusal } from '../domain/shared/refusal.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { hasGoodKey } from './bearer-key.ts';
import { type HttpRequest, type HttpResponse, readablePath } from './message.ts';
import { readQuery } from './query.ts';

interface Sent {
  readonly stores: Stores;
  readonly call: Call;
  readonly request: HttpRequest;
}

/** A response, or the wish of the query for an update. */
type Answer = HttpResponse | 'upgrade';

const bucketPattern = /\/(?:api\/v1\/bucket|cloud)\/([^/]*)\//y;
export const linkPattern = /\/s\/([^/]*)\/(.*)$/sy;

/** `undefined` for a request whose API key is good for the bucket in its URL. */
function budgetOf({ stores, call, request }: Sent): BudgetName | undefined {
  const path = readablePath(request);
  const [, bucket] = matchStart(bucketPattern, path) ?? [];
  if (bucket !== undefined && hasGoodKey({ stores, call, request }, bucket)) return undefined;
  const [, id, name] = matchStart(linkPattern, path) ?? [];
  if (id === undefined || name === undefined) return 'anonymousUpdates';
  const address = { id, name, secret: secretOf(request) };
  return opensLink(stores, call, address) ? 'linkUpdates' : 'refusals';
}

function matchStart(pattern: RegExp, path: string): RegExpExecArray | null {
  pattern.lastIndex = 0;
  return pattern.exec(path);
}

const plainQuery = '?k=';

/** Most links have only `k` in the query, unencoded, which this reads at a tenth of the cost. */
export function secretOf(request: HttpRequest): string {
  const { url } = request;
  const start = url.indexOf(plainQuery);
  const plain = url.slice(start + plainQuery.length);
  const isPlain = start > 0 && !plain.includes('&') && !plain.includes('%') && !plain.includes('#');
  return isPlain ? plain : (readQuery(request, ['k']).k ?? '');
}

/** Refused requests have a budget of their own, so that they use up no other one. */
function paying(budget: BudgetName, answer: Answer): BudgetName {
  return answer !== 'upgrade' && answer.status >= 400 ? 'refusals' : budget;
}

/**
 * For the query and the inspection: whether an update may be caused for what the query would
 * answer. Returns the refusal if not.
 */
export function updateRefusal(sent: Sent, response: Answer): Refusal | undefined {
  const { stores, call } = sent;
  const budget = budgetOf(sent);
  if (budget === undefined) return undefined;
  const empty = [budget, paying(budget, response)].find((name) => {
    return !isBudgetLeft(stores, name, call.nowNs);
  });
  return empty && spentBudget(stores, empty, call.nowNs);
}

/**
 * For the query and the inspection: whether an update may say that a budget is spent. Where a
 * public file is, gateways do not pass a refusal on from a query.
 */
export function maySayInUpdate({ stores, call }: Sent): boolean {
  return isBudgetLeft(stores, 'refusals', call.nowNs);
}

/** For the update: answers the request, unless its budget is spent, and takes from the budget. */
export function withinBudget(
  sent: Sent,
  answer: () => Answer,
  refuse: (refusal: Refusal) => HttpResponse,
): Answer {
  const { stores, call } = sent;
  const budget = budgetOf(sent);
  if (budget === undefined) return answer();
  const isLeft = isBudgetLeft(stores, budget, call.nowNs);
  const response = isLeft ? answer() : refuse(spentBudget(stores, budget, call.nowNs));
  spendBudget(stores, paying(budget, response), { nowNs: call.nowNs });
  return response;
}
