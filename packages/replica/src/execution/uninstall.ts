// Removes a canister's code, on request or for lack of cycles. IC spec, "IC method uninstall_code".

import type { ChangeOrigin } from '../core.ts';
import type { Canister } from './canister.ts';
import { changeOf } from './canister-change.ts';
import { clearLog } from './canister-log.ts';
import type { EngineState } from './core-state.ts';
import { commitRecord } from './core-state.ts';
import { uninstalled } from './errors.ts';
import { noInstance } from './instance-image.ts';
import { nextLowMemoryHook } from './low-memory-hook.ts';

/** Closes all contexts: callbacks of open calls never run, and waiting callers get a reject. */
export function closeContexts(canister: Canister): void {
  for (const context of canister.contexts) {
    context.isDeleted = true;
    if (!context.responded) {
      context.responded = true;
      context.respond?.(uninstalled(), context.availableCycles);
    }
  }
  canister.contexts.clear();
  canister.openCalls.clear();
}

export function uninstallCode(state: EngineState, canister: Canister, origin?: ChangeOrigin): void {
  const { record } = canister;
  const emptied = {
    ...record,
    moduleHash: undefined,
    certifiedData: new Uint8Array(),
    globalTimer: 0n,
    version: record.version + 1n,
    lowMemoryHook: nextLowMemoryHook(record, 0),
  };
  const heap = () => noInstance(canister);
  const details = { kind: 'uninstall' } as const;
  const values = [
    ...clearLog(state.store, canister.idText),
    changeOf(state, { canister, version: emptied.version, origin, details }),
  ];
  commitRecord(state, { canister, record: emptied, cleared: true, heap, values });
  canister.module = undefined;
  canister.moduleBytes = 0;
  canister.sandbox = undefined;
  canister.failure = undefined;
  closeContexts(canister);
}
