// An operation that somebody's signal ends, and that may be ended from within.

import { onAbort } from './abort.ts';
import type { Signal } from './transport.ts';

export interface LinkedController {
  readonly controller: AbortController;
  /** When the operation is over. */
  release(): void;
}

export function linkedController(outer: Signal): LinkedController {
  const controller = new AbortController();
  const stop = () => controller.abort(outer?.reason);
  if (outer?.aborted) stop();
  return { controller, release: onAbort(outer, stop) };
}
