// A canister's instance in the form that survives a restart: the changed pages of its heap and, in
// a few bytes besides, its globals and its unanswered calls. The calls' queues end with the
// process, so a reject answers those calls after the restart.

import { decode, encode } from 'cborg';
import type { HeapChange, SenderInfo, StoredHeap } from '../core.ts';
import type { CompiledModule } from '../wasm/compile.ts';
import type { CallContext, Canister, Closure, Execution, OpenCall } from './canister.ts';
import { openContext } from './canister.ts';
import { createHost } from './ic0-host.ts';
import { Sandbox, type StoredRegisters } from './sandbox.ts';

/** Version 1 did not prepay calls. */
const version = 2;
const formerVersion = 1;
const emptyHeap = Buffer.alloc(0);

interface StoredContext {
  readonly caller: Uint8Array;
  readonly callerInfo?: SenderInfo;
  readonly deadline: string;
  readonly responded: boolean;
  readonly availableCycles: string;
}

type StoredClosure = readonly [index: number, environment: number | bigint];

interface StoredCall {
  readonly context: number;
  readonly method: string;
  readonly cycles: string;
  /**
   * A call of the canister to itself that had not begun: otherwise this state would contain its
   * effects.
   */
  readonly isAhead?: true;
  readonly prepaid?: { readonly response: string; readonly callback: string };
  readonly onReply: StoredClosure;
  readonly onReject: StoredClosure;
  readonly onCleanup: StoredClosure | null;
}

interface StoredInstance {
  readonly version: number;
  readonly registers: StoredRegisters;
  readonly lastTime: string;
  readonly contexts: readonly StoredContext[];
  readonly calls: readonly StoredCall[];
}

/** Returns the changes that a successful message made to its canister's instance. */
export function changedInstance(execution: Execution): HeapChange {
  const { canister, sandbox, callContext, effects } = execution;
  const made = callContext
    ? effects.calls.map((call) => ({ context: callContext, call, hasBegun: false }))
    : [];
  return {
    canisterId: canister.idText,
    registers: encodeInstance(canister, {
      sandbox,
      calls: [...canister.openCalls, ...made],
      running: execution,
    }),
    cleared: false,
    ...sandbox.changes(),
  };
}

/** Returns the change by which a new instance replaces the former one. */
export function newInstance(canister: Canister, sandbox: Sandbox): HeapChange {
  return {
    canisterId: canister.idText,
    registers: encodeInstance(canister, { sandbox, calls: [...canister.openCalls] }),
    cleared: true,
    heap: sandbox.heap(),
    former: emptyHeap,
    dirty: sandbox.usedPages(),
  };
}

/** Returns a change of the waiting calls only, without changed pages. */
export function sameHeap(canister: Canister, sandbox: Sandbox): HeapChange {
  const heap = sandbox.heap();
  return {
    canisterId: canister.idText,
    registers: encodeInstance(canister, { sandbox, calls: [...canister.openCalls] }),
    cleared: false,
    heap,
    former: heap,
    dirty: [],
  };
}

export function noInstance(canister: Canister): HeapChange {
  const canisterId = canister.idText;
  const heap = emptyHeap;
  return { canisterId, registers: undefined, cleared: true, heap, former: heap, dirty: [] };
}

/**
 * Returns the instance at its last commit and its open calls, in contexts that answer nobody.
 * Throws the reason why the instance cannot be restored.
 */
export function restoreInstance(
  canister: Canister,
  stored: StoredHeap,
  module: CompiledModule,
): { readonly sandbox: Sandbox; readonly calls: OpenCall[] } {
  const found = decode(stored.registers) as StoredInstance;
  if (found.version !== version && found.version !== formerVersion) {
    throw new Error(`its heap was stored by another version of the replica (${found.version})`);
  }
  const { registers } = found;
  const sandbox = new Sandbox(module, createHost(canister.slot, module.shape.address), {
    bytes: stored.pages * 65_536,
    read: stored.read,
    registers,
  });
  canister.lastTime = BigInt(found.lastTime);
  const contexts = found.contexts.map((one) => reopened(canister, one));
  const calls = found.calls.flatMap((call) => {
    const context = contexts[call.context];
    return context === undefined
      ? []
      : [{ context, call: waitingCall(call), hasBegun: call.isAhead !== true }];
  });
  return { sandbox, calls };
}

function reopened(canister: Canister, stored: StoredContext): CallContext {
  const context = openContext({
    canister,
    caller: stored.caller,
    callerInfo: stored.callerInfo,
    deadline: BigInt(stored.deadline),
    cycles: BigInt(stored.availableCycles),
  });
  context.responded = stored.responded;
  return context;
}

function waitingCall(stored: StoredCall): OpenCall['call'] {
  const { method, cycles, prepaid, onReply, onReject, onCleanup } = stored;
  return {
    callee: new Uint8Array(),
    method,
    onReply: closureOf(onReply),
    onReject: closureOf(onReject),
    onCleanup: onCleanup === null ? undefined : closureOf(onCleanup),
    parts: [],
    bytes: 0,
    cycles: BigInt(cycles),
    prepaid: prepaid && {
      response: BigInt(prepaid.response),
      callback: BigInt(prepaid.callback),
    },
    timeoutSeconds: undefined,
  };
}

function closureOf([index, environment]: StoredClosure): Closure {
  return { index, environment };
}

function encodeInstance(
  canister: Canister,
  parts: {
    readonly sandbox: Sandbox;
    readonly calls: readonly OpenCall[];
    /** The message that this commit ends. */
    readonly running?: Execution;
  },
): Uint8Array {
  const { sandbox, calls, running } = parts;
  const contexts = [...new Set(calls.map(({ context }) => context))];
  const stored: StoredInstance = {
    version,
    registers: sandbox.storedRegisters(),
    lastTime: canister.lastTime.toString(),
    contexts: contexts.map((context) => storedContext(context, running)),
    calls: calls.map((open) => storedCall(contexts.indexOf(open.context), open)),
  };
  return encode(stored);
}

function storedContext(context: CallContext, running: Execution | undefined): StoredContext {
  const effects = running?.callContext === context ? running.effects : undefined;
  return {
    caller: context.caller,
    ...(context.callerInfo && { callerInfo: context.callerInfo }),
    deadline: context.deadline.toString(),
    responded: context.responded || effects?.response !== undefined,
    availableCycles: (effects?.availableCycles ?? context.availableCycles).toString(),
  };
}

function storedCall(context: number, open: OpenCall): StoredCall {
  const { callee, method, cycles, prepaid, onReply, onReject, onCleanup } = open.call;
  const isOwn = Buffer.compare(callee, open.context.canister.id.toUint8Array()) === 0;
  const pair = ({ index, environment }: Closure): StoredClosure => [index, environment];
  return {
    context,
    method,
    cycles: cycles.toString(),
    ...(isOwn && !open.hasBegun && { isAhead: true }),
    ...(prepaid && {
      prepaid: {
        response: prepaid.response.toString(),
        callback: prepaid.callback.toString(),
      },
    }),
    onReply: pair(onReply),
    onReject: pair(onReject),
    onCleanup: onCleanup ? pair(onCleanup) : null,
  };
}
