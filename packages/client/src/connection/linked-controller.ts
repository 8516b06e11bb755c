// An abort controller that follows the caller's signal and can also be aborted from within.

import { onAbort } from './abort.ts';
import type { Signal } from './transport.ts';

export interface LinkedController {
  readonly controller: AbortController;
  /** Stops following the signal; call it when the operation is over. */
  release(): void;
}

export function linkedController(outer: Signal): LinkedController {
  const controller = new AbortController();
  const stop = () => controller.abort(outer?.reason);
  if (outer?.aborted) stop();
  return { controller, release: onAbort(outer, stop) };
}
