// Whether retention or a legal hold protects a version now.

import type { Retention } from '../../../packages/client/src/types/retention.ts';

export function isHeld(retention: Retention | undefined, now = Date.now()): boolean {
  const { hold = false, retainUntil } = retention ?? {};
  return hold || (retainUntil !== undefined && Date.parse(retainUntil) > now);
}
