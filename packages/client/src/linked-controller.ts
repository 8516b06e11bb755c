// An operation that somebody's signal ends, and that may be ended from within.

import type { Signal } from './transport.ts';

export interface LinkedController {
  readonly controller: AbortController;
  /** The outer signal keeps no listener of an operation that is over. */
  release(): void;
}

export function linkedController(outer: Signal): LinkedController {
  const controller = new AbortController();
  const stop = () => controller.abort(outer?.reason);
  if (outer?.aborted) stop();
  outer?.addEventListener('abort', stop, { once: true });
  return { controller, release: () => outer?.removeEventListener('abort', stop) };
}
