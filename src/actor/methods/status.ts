// The status of the service: counts, sizes and cycles. No secrets.

import { canisterCycleBalance } from 'azle';
import { type SystemFigures, statusOf } from '../../domain/administration/bucket-status.ts';
import { heapSize, liquidCycles, stablePageBytes, stableSize } from '../../storage/stable-space.ts';
import { ResultStatus } from '../candid/types.ts';
import { query } from '../dispatch/method.ts';
import { optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';

/** Each is asked for when it is read: requests want one of them. */
const figures: SystemFigures = {
  get stableBytes() {
    return stableSize() * stablePageBytes;
  },
  get heapBytes() {
    return heapSize() * stablePageBytes;
  },
  get cycles() {
    return canisterCycleBalance();
  },
  get liquidCycles() {
    return liquidCycles();
  },
};

export function systemFigures(): SystemFigures {
  return figures;
}

/** The service itself: what it holds, and how it is. */
export class StatusActor {
  /** Version, counts, sizes in bytes; cycles for those who may know. No secrets. */
  @query([], ResultStatus)
  getStatus() {
    return answer(() => {
      const status = statusOf(stores, currentCall(), systemFigures());
      const { cycles, linkUpdates, refusals, derivations } = status;
      return {
        ...status,
        cycles: optional(cycles),
        linkUpdates: optional(linkUpdates),
        refusals: optional(refusals),
        derivations: optional(derivations),
      };
    });
  }
}
