// The check before code is installed or replaced: only controllers may do it.

import type { CanisterCode, CertifiedCode } from '../../../client/src/actor/canister-code.ts';

/** Throws if the caller is not a controller. `undone`: the work that this prevented. */
export function requireController(
  { caller }: Pick<CanisterCode, 'caller'>,
  canisterId: string,
  { controllers }: Pick<CertifiedCode, 'controllers'>,
  undone: 'installed' | 'upgraded',
): void {
  if (controllers.includes(caller)) return;
  throw new Error(
    `${caller} is not a controller of ${canisterId}, so nothing was ${undone}: use the identity ` +
      `of one of its controllers, ${controllers.join(', ')}, or add yours to them.`,
  );
}
