// A request while it is answered, and its handlers.

import type { SystemFigures } from '../domain/administration/bucket-status.ts';
import type { ApiKey } from '../domain/rights/api-keys.ts';
import type { Call } from '../domain/shared/caller.ts';
import type { Stores } from '../domain/shared/stores.ts';
import type { HttpRequest, HttpResponse } from './message.ts';

/** The answer of a query to a request that has passed every check and needs an update. */
export const upgrade = 'upgrade';

export type Answer = HttpResponse | typeof upgrade;

export interface Exchange {
  readonly stores: Stores;
  readonly call: Call;
  readonly request: HttpRequest;
  /** Only an update may change something. */
  readonly phase: 'query' | 'update';
  /**
   * Whether an inspection, which has 200 M instructions, repeats the query: then checking the
   * caller's right replaces longer checks.
   */
  readonly isInspected?: boolean;
  readonly system: () => SystemFigures;
  /** The API key for the bucket in the URL that has paid for the update. */
  readonly payer?: ApiKey | undefined;
  /** The captures of the route's pattern in the decoded path. */
  readonly captures: readonly string[];
}
