// Creates the execution of one entry point, without changes and without an answer.

import type { StableMemory } from '../core.ts';
import type { CallContext, Canister, Closure, Execution, World } from './canister.ts';
import type { Context } from './context.ts';
import { PageSet } from './page-set.ts';
import type { Sandbox } from './sandbox.ts';

export interface ExecutionOptions {
  readonly world: World;
  readonly context: Context;
  readonly canister: Canister;
  readonly sandbox: Sandbox;
  readonly stable: StableMemory;
  readonly limit: bigint;
  readonly time: bigint;
  readonly callContext?: CallContext | undefined;
  readonly method?: string;
  readonly caller?: Uint8Array;
  readonly arg?: Uint8Array;
  readonly rejectCode?: number;
  readonly rejectMessage?: Uint8Array | undefined;
  readonly refundedCycles?: bigint;
  readonly hasCertificate?: boolean;
  readonly prepaidCycles?: bigint;
}

const nothing = new Uint8Array();

export function createExecution(options: ExecutionOptions): Execution {
  return {
    callContext: undefined,
    method: '',
    caller: nothing,
    arg: nothing,
    rejectCode: 0,
    rejectMessage: undefined,
    refundedCycles: 0n,
    hasCertificate: false,
    prepaidCycles: 0n,
    stablePages: new PageSet(),
    ...options,
    effects: {
      replyParts: [],
      replyBytes: 0,
      response: undefined,
      certifiedData: undefined,
      globalTimer: undefined,
      cycles: options.canister.record.cycles,
      availableCycles: options.callContext?.availableCycles ?? 0n,
      refundCycles: 0n,
      calls: [],
      performed: undefined,
      pendingCall: undefined,
      isAccepted: false,
      printed: undefined,
    },
  };
}

export function closure(index: number, environment: number | bigint): Closure {
  return { index, environment };
}
