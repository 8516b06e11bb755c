// What the service tells of itself: counts, sizes and cycles. No secrets.

import { canisterCycleBalance } from 'azle';
import { type SystemFigures, statusOf } from '../domain/bucket-status.ts';
import { heapSize, stablePageBytes, stableSize } from '../storage/stable-space.ts';
import { answer, currentCall } from './call.ts';
import { ResultStatus } from './candid.ts';
import { query } from './method.ts';
import { stores } from './runtime.ts';

export function systemFigures(): SystemFigures {
  return {
    stableBytes: stableSize() * stablePageBytes,
    heapBytes: heapSize() * stablePageBytes,
    cycles: canisterCycleBalance(),
  };
}

export class StatusActor {
  @query([], ResultStatus)
  getStatus() {
    return answer(() => {
      const { cycles, ...status } = statusOf(stores, currentCall(), systemFigures());
      return { ...status, cycles: cycles === undefined ? [] : [cycles] };
    });
  }
}
