// Chooses the budget that pays for the update of an HTTP request: a valid API key for the bucket in
// the URL has its own budget; all other callers share the budgets of the canister.

import { mayTry } from '../domain/files/link-passwords.ts';
import { opensLink } from '../domain/files/links.ts';
import type { ApiKey } from '../domain/rights/api-keys.ts';
import {
  type BudgetName,
  isBudgetLeft,
  spendBudget,
  spentBudget,
} from '../domain/rights/budgets.ts';
import { chargeKey, checkKeyBudget } from '../domain/rights/key-budgets.ts';
import type { Call } from '../domain/shared/caller.ts';
import { Refusal, valueOrRefusal } from '../domain/shared/refusal.ts';
import type { Stores } from '../domain/shared/stores.ts';
import {
  refusedBytesPerToken,
  requestBytesPerToken,
  uncheckedArgumentBytesMax,
} from '../limits.ts';
import { goodKey } from './bearer-key.ts';
import { type HttpRequest, type HttpResponse, readablePath } from './message.ts';
import { readQuery } from './query.ts';

interface Sent {
  readonly stores: Stores;
  readonly call: Call;
  readonly request: HttpRequest;
}

/** A response, or the query's request for an update. */
type Answer = HttpResponse | 'upgrade';

const bucketPattern = /\/(?:api\/v1\/(?:bucket|tus)|cloud)\/([^/]*)(?:\/|$)/y;
export const linkPattern = /\/s\/([^/]*)\/(.*)$/sy;

/** Returns the API key that pays, if valid for the bucket in the URL, else the name of a budget. */
function payerOf({ stores, call, request }: Sent): ApiKey | BudgetName {
  // Preflights of browsers need no update, see certified-answer.ts
  if (request.method === 'OPTIONS') return 'refusals';
  const path = readablePath(request);
  const [, bucket] = matchStart(bucketPattern, path) ?? [];
  const key = bucket === undefined ? undefined : goodKey({ stores, call, request }, bucket);
  if (key !== undefined) return key;
  const [, id, name] = matchStart(linkPattern, path) ?? [];
  if (id === undefined || name === undefined) return 'anonymousUpdates';
  // A wrong proof is paid from the refusals, so without them none may be tried
  const isGood =
    request.method === 'POST'
      ? mayTry(stores, call, { id, name }) && isBudgetLeft(stores, 'refusals', call.nowNs)
      : opensLink(stores, call, { id, name, secret: secretOf(request) });
  return isGood ? 'linkUpdates' : 'refusals';
}

function matchStart(pattern: RegExp, path: string): RegExpExecArray | null {
  pattern.lastIndex = 0;
  return pattern.exec(path);
}

const plainQuery = '?k=';

/**
 * Returns the secret in the URL of a link. Most URLs have only an unencoded `k` in the query, which
 * this function reads at a tenth of the cost.
 */
export function secretOf(request: HttpRequest): string {
  const { url } = request;
  const start = url.indexOf(plainQuery);
  const plain = url.slice(start + plainQuery.length);
  const isPlain = start > 0 && !plain.includes('&') && !plain.includes('%') && !plain.includes('#');
  return isPlain ? plain : (readQuery(request, ['k']).k ?? '');
}

/** Refused requests have their own budget, so that they do not use up another one. */
function paying(budget: BudgetName, answer: Answer): BudgetName {
  return answer !== 'upgrade' && answer.status >= 400 ? 'refusals' : budget;
}

/** Returns the tokens that the update takes: the canister pays for each byte that it receives. */
function tokensOf(name: BudgetName, { url, headers, body }: HttpRequest): number {
  const texts = headers.reduce((sum, [field, value]) => sum + field.length + value.length, 0);
  const bytesPerToken = name === 'refusals' ? refusedBytesPerToken : requestBytesPerToken;
  return 1 + Math.floor((url.length + texts + body.length) / bytesPerToken);
}

/**
 * Returns the refusal if no budget pays for the update that the query's answer needs. For the query
 * and the inspection.
 */
export function updateRefusal(sent: Sent, response: Answer): Refusal | undefined {
  const { stores, call, request } = sent;
  const payer = payerOf(sent);
  if (typeof payer !== 'string') {
    const update = { bytes: request.body.length, nowNs: call.nowNs };
    const checked = valueOrRefusal(() => checkKeyBudget(stores, payer, update));
    return checked instanceof Refusal ? checked : undefined;
  }
  if (!isSmall(request)) {
    return new Refusal(
      'EntityTooLarge',
      `Without an API key for the bucket, a request has at most ${uncheckedArgumentBytesMax} bytes.`,
      { limit: uncheckedArgumentBytesMax, size: request.body.length },
    );
  }
  const empty = [payer, paying(payer, response)].find((name) => {
    return !isBudgetLeft(stores, name, call.nowNs);
  });
  return empty && spentBudget(stores, empty, call.nowNs);
}

/**
 * Whether the query and the inspection may let an update answer that a budget is used up. At the
 * address of a public file, gateways do not pass on a refusal by a query.
 */
export function maySayInUpdate({ stores, call, request }: Sent): boolean {
  return isSmall(request) && isBudgetLeft(stores, 'refusals', call.nowNs);
}

/** Whether the canister accepts the request as an update for which no key pays. */
function isSmall({ body }: HttpRequest): boolean {
  return body.length <= uncheckedArgumentBytesMax;
}

/**
 * Answers the request in an update and charges the key or the budget that pays; refuses if it is
 * used up. `answer` gets the key that has paid, which it neither looks up nor charges again.
 */
export function withinBudget(
  sent: Sent,
  answer: (payer: ApiKey | undefined) => Answer,
  refuse: (refusal: Refusal) => HttpResponse,
): Answer {
  const { stores, call, request } = sent;
  const { nowNs } = call;
  const spend = (name: BudgetName) =>
    spendBudget(stores, name, { amount: tokensOf(name, request), nowNs });
  const payer = payerOf(sent);
  if (typeof payer !== 'string') {
    const charged = valueOrRefusal(() => chargeKey(stores, call, payer));
    if (!(charged instanceof Refusal)) return answer(payer);
    spend('refusals');
    return refuse(charged);
  }
  const isLeft = isBudgetLeft(stores, payer, nowNs);
  const response = isLeft ? answer(undefined) : refuse(spentBudget(stores, payer, nowNs));
  spend(paying(payer, response));
  return response;
}
