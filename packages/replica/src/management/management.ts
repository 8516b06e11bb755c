// The management canister `aaaaa-aa`: decodes a call, checks its caller, and calls the engine. IC
// spec, "The IC management canister".

import type { Lifecycle, Management, ManagementCall, ManagementResult, Reject } from '../core.ts';
import { checkAccess, effectiveCanisterId, findMethod } from './access.ts';
import { type Arguments, decodeArgument, encodeResult, type MethodName } from './candid-types.ts';
import { canisterMethods } from './canister-methods.ts';
import { ChunkStore } from './chunk-store.ts';
import { codeMethods } from './code-methods.ts';
import type { Handlers, ManagementOptions } from './handlers.ts';
import { inquiryMethods } from './inquiry-methods.ts';
import { outcallMethods } from './outcall-methods.ts';
import { isReject, malformedArgument, unknownIngressMethod } from './rejects.ts';
import { secretMethods } from './secret-methods.ts';
import { signingMethods } from './signing-methods.ts';
import { snapshotMethods } from './snapshot-methods.ts';

/** Bad calls return a Reject; only a failure of the engine itself throws. */
export function createManagement(lifecycle: Lifecycle, options: ManagementOptions): Management {
  const parts = { lifecycle, options, chunks: new ChunkStore() };
  const handlers = {
    ...canisterMethods(parts),
    ...codeMethods(parts),
    ...inquiryMethods(parts),
    ...secretMethods(parts),
    ...signingMethods(parts),
    ...outcallMethods(parts),
    ...snapshotMethods(parts),
  };
  return {
    checkIngress(call) {
      const method = findMethod(call.method);
      if (typeof method !== 'string') {
        return method.errorCode === 'IC0536' ? unknownIngressMethod(call.method) : method;
      }
      return checkAccess(method, { call: { ...call, fromCanister: false }, lifecycle });
    },
    // `dfinity/ic` rs/types/management_canister_types: the provisional methods are free.
    ingressPayer: ({ method, arg }) =>
      method.startsWith('provisional_') ? undefined : effectiveCanisterId(method, arg),
    async execute(call) {
      const method = findMethod(call.method);
      if (typeof method !== 'string') return rejection(method, call);
      const denied = checkAccess(method, { call, lifecycle });
      if (denied !== undefined) return rejection(denied, call);
      return run(handlers, { method, call });
    },
  };
}

async function run<M extends MethodName>(
  handlers: Handlers,
  { method, call }: { readonly method: M; readonly call: ManagementCall },
): Promise<ManagementResult> {
  let argument: Arguments[M];
  try {
    argument = decodeArgument(method, call.arg);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return rejection(malformedArgument(method, reason), call);
  }
  const done = await handlers[method](argument, call);
  if (isReject(done)) return rejection(done, call);
  return {
    outcome: done.outcome ?? { status: 'replied', arg: encodeResult(method, done.value) },
    refundedCycles: call.cycles - (done.keptCycles ?? 0n),
  };
}

/** A rejected call refunds all cycles. */
function rejection(outcome: Reject, call: ManagementCall): ManagementResult {
  return { outcome, refundedCycles: call.cycles };
}
