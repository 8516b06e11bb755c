// The engine's data: a canister, the call contexts of its messages, and the execution of one entry
// point (its readable data, and the changes that take effect only if it succeeds). IC spec,
// "Abstract behavior: Canister state".

import type { Principal } from '@dfinity/principal';
import type {
  CanisterView,
  DataCertificateSource,
  Outcome,
  Reject,
  SenderInfo,
  StableMemory,
} from '../core.ts';
import type { CanisterSettings } from '../settings.ts';
import type { LowMemoryHook } from '../snapshot-facts.ts';
import type { SubnetType } from '../subnet-type.ts';
import type { CompiledModule } from '../wasm/compile.ts';
import type { Context } from './context.ts';
import type { Limits } from './limits.ts';
import type { MessageLog } from './message-log.ts';
import type { PageSet } from './page-set.ts';
import type { Sandbox } from './sandbox.ts';

/** The stored state of a canister besides its memories. */
export interface CanisterRecord {
  /** Replaced as a whole when one setting changes. */
  settings: CanisterSettings;
  status: CanisterView['status'];
  moduleHash: Uint8Array | undefined;
  certifiedData: Uint8Array;
  version: bigint;
  cycles: bigint;
  /** Set aside when memory is added; pay only the charges for time. */
  reservedCycles: bigint;
  /** Time until which memory and compute allocation are paid, ns since 1970. */
  chargedAt: bigint;
  /** Nanoseconds since 1970; 0 if no timer is set. */
  globalTimer: bigint;
  lowMemoryHook: LowMemoryHook;
}

export interface Canister {
  readonly id: Principal;
  readonly idText: string;
  record: CanisterRecord;
  module: CompiledModule | undefined;
  moduleBytes: number;
  sandbox: Sandbox | undefined;
  /** The slot through which its `ic0` functions find the running message. */
  readonly slot: HostSlot;
  readonly contexts: Set<CallContext>;
  /** Time of the last message: a canister never sees time run backwards. */
  lastTime: bigint;
  /** Performed calls whose callbacks have not run yet. */
  readonly openCalls: Set<OpenCall>;
  /** Number of its calls that wait for an answer. */
  readonly waiting: CallCount;
  /** Whether a task that runs `canister_global_timer` is queued. */
  isTimerQueued: boolean;
  /** Whether a task that runs `canister_on_low_wasm_memory` is queued. */
  isHookQueued: boolean;
  /** Whether the last task could not start or be stored; the next attempt is a second later. */
  isTaskHeld: boolean;
  /** The reason why the canister could not be resumed after a restart. */
  failure: string | undefined;
  stopping: { finish: (reject: Reject | undefined) => void; deadline: bigint }[];
}

/** One call being answered: it lives from the first message to the last callback. */
export interface CallContext {
  readonly canister: Canister;
  readonly caller: Uint8Array;
  /** Information about the caller, if a canister signs for that user. */
  readonly callerInfo: SenderInfo | undefined;
  readonly deadline: bigint;
  /** Receives the answer, once; absent for system tasks, which have no caller. */
  readonly respond: ((outcome: Outcome, refundedCycles: bigint) => void) | undefined;
  responded: boolean;
  /** Cycles that came with the call and were not accepted. */
  availableCycles: bigint;
  openCalls: number;
  instructions: bigint;
  /** Whether the canister's code was removed, so that no callback runs. */
  isDeleted: boolean;
}

export interface Closure {
  readonly index: number;
  /** `bigint` if a canister with 64-bit addresses set it. */
  readonly environment: number | bigint;
}

/** A call under construction, or a performed call in transit. */
export interface OutgoingCall {
  readonly callee: Uint8Array;
  readonly method: string;
  readonly onReply: Closure;
  readonly onReject: Closure;
  onCleanup: Closure | undefined;
  readonly parts: Uint8Array[];
  bytes: number;
  cycles: bigint;
  /** Cycles prepaid for its answer; undefined in a query. */
  prepaid: Prepaid | undefined;
  /** Seconds after which the caller stops waiting; absent for a guaranteed response. */
  timeoutSeconds: number | undefined;
}

/** Maximum cost of an answer; the rest is refunded. */
export interface Prepaid {
  readonly response: bigint;
  readonly callback: bigint;
}

/** A call on its way to its canister. */
export interface IncomingCall {
  readonly caller: Uint8Array;
  readonly callerInfo?: SenderInfo | undefined;
  readonly method: string;
  readonly arg: Uint8Array;
  readonly cycles: bigint;
  readonly deadline: bigint;
  /** Cycles that the canister pays for accepting the ingress message. */
  readonly ingressCycles: bigint;
  readonly respond: (outcome: Outcome, refundedCycles: bigint) => void;
  /** Called before the first instruction of the callee. */
  readonly onBegin?: () => void;
}

/** A call that waits for its answer. */
export interface OpenCall {
  readonly context: CallContext;
  readonly call: OutgoingCall;
  /** Whether its callee has started. */
  hasBegun: boolean;
}

/** The number of calls, in total and by callee. */
export interface CallCount {
  total: number;
  readonly byCallee: Map<string, number>;
}

/** Services of the replica for its canisters. */
export interface World {
  /** Calls of all canisters that wait for an answer. */
  readonly waitingCalls: { count: number };
  readonly now: () => bigint;
  readonly subnetType: SubnetType;
  readonly limits: Limits;
  readonly dataCertificate: DataCertificateSource;
  readonly rootKey: () => Uint8Array;
  readonly subnetId: () => Uint8Array;
  readonly onPrint: (canisterId: string, text: string) => void;
  /** Ids that new canisters get only on request. */
  readonly reservedIds: ReadonlySet<string>;
}

/** The changes of one message, discarded if it traps. */
export interface Effects {
  readonly replyParts: Uint8Array[];
  replyBytes: number;
  response: Outcome | undefined;
  certifiedData: Uint8Array | undefined;
  globalTimer: bigint | undefined;
  cycles: bigint;
  availableCycles: bigint;
  /** Cycles refunded to the caller with the answer. */
  refundCycles: bigint;
  readonly calls: OutgoingCall[];
  /** The counts of `calls`; absent before the first call. */
  performed: CallCount | undefined;
  pendingCall: OutgoingCall | undefined;
  isAccepted: boolean;
  /** The printed lines; created with the first line. */
  printed: MessageLog | undefined;
}

export interface Execution {
  readonly world: World;
  readonly context: Context;
  readonly canister: Canister;
  readonly sandbox: Sandbox;
  readonly stable: StableMemory;
  /** Stable memory pages that were read or written. */
  readonly stablePages: PageSet;
  readonly callContext: CallContext | undefined;
  readonly method: string;
  readonly caller: Uint8Array;
  readonly arg: Uint8Array;
  readonly time: bigint;
  readonly rejectCode: number;
  readonly rejectMessage: Uint8Array | undefined;
  readonly refundedCycles: bigint;
  /** Instructions that this entry point may use. */
  readonly limit: bigint;
  /** Cycles prepaid for `limit` instructions; the balance excludes them until the message ends. */
  readonly prepaidCycles: bigint;
  /** True only for the target of a query call, not for its callees. */
  readonly hasCertificate: boolean;
  readonly effects: Effects;
}

/** The slot with the execution that an instance's `ic0` functions serve at present. */
export interface HostSlot {
  execution: Execution | undefined;
}

export function openContext(options: {
  readonly canister: Canister;
  readonly caller: Uint8Array;
  readonly callerInfo?: SenderInfo | undefined;
  readonly respond?: CallContext['respond'];
  readonly cycles?: bigint;
  readonly deadline?: bigint;
}): CallContext {
  const context: CallContext = {
    canister: options.canister,
    caller: options.caller,
    callerInfo: options.callerInfo,
    deadline: options.deadline ?? 0n,
    respond: options.respond,
    responded: false,
    availableCycles: options.cycles ?? 0n,
    openCalls: 0,
    instructions: 0n,
    isDeleted: false,
  };
  options.canister.contexts.add(context);
  return context;
}
