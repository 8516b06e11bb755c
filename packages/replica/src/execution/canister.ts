// The engine's data: a canister, the call contexts in which its messages run, and one entry point
// while it runs (what it may read, and the changes that become real only when it ends well). Shapes
// only. IC spec, "Abstract behavior: Canister state".

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
import type { CompiledModule } from '../wasm/compile.ts';
import type { Context } from './context.ts';
import type { Limits } from './limits.ts';
import type { MessageLog } from './message-log.ts';
import type { PageSet } from './page-set.ts';
import type { Sandbox } from './sandbox.ts';

/** The stored state of a canister besides its memories. */
export interface CanisterRecord {
  /** Replaced whole when one changes. */
  settings: CanisterSettings;
  status: CanisterView['status'];
  moduleHash: Uint8Array | undefined;
  certifiedData: Uint8Array;
  version: bigint;
  cycles: bigint;
  /** Set aside for storage, and for nothing else. */
  reservedCycles: bigint;
  /** Up to when memory and compute allocation are paid, ns since 1970. */
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
  /** The size of the module as it was installed. */
  moduleBytes: number;
  sandbox: Sandbox | undefined;
  /** The slot in which its `ic0` functions find the running message. */
  readonly slot: HostSlot;
  readonly contexts: Set<CallContext>;
  /** Time of the last message: what a canister sees never runs backwards. */
  lastTime: bigint;
  /** Performed calls whose callbacks have not run. */
  readonly openCalls: Set<OpenCall>;
  /** How many of its calls wait for an answer. */
  readonly waiting: CallCount;
  /** A task is queued that runs `canister_global_timer`. */
  isTimerQueued: boolean;
  /** A task is queued that runs `canister_on_low_wasm_memory`. */
  isHookQueued: boolean;
  /** The last task could not begin or be stored: the next attempt is made a second later. */
  isTaskHeld: boolean;
  /** Why it could not be brought up again after a restart. */
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
  /** Takes the answer, once; absent for system tasks, which answer to nobody. */
  readonly respond: ((outcome: Outcome, refundedCycles: bigint) => void) | undefined;
  responded: boolean;
  /** Cycles that came with the call and were not accepted. */
  availableCycles: bigint;
  openCalls: number;
  instructions: bigint;
  /** The code was removed under it: its callbacks never run. */
  isDeleted: boolean;
}

export interface Closure {
  readonly index: number;
  /** `bigint` when a canister with addresses of 64 bits gave it. */
  readonly environment: number | bigint;
}

/** A call under construction, or performed and on its way. */
export interface OutgoingCall {
  readonly callee: Uint8Array;
  readonly method: string;
  readonly onReply: Closure;
  readonly onReject: Closure;
  onCleanup: Closure | undefined;
  readonly parts: Uint8Array[];
  bytes: number;
  cycles: bigint;
  /** Paid when it was performed, for its answer; nothing in a query. */
  prepaid: Prepaid | undefined;
  /** Seconds after which the caller stops waiting; absent for a guaranteed response. */
  timeoutSeconds: number | undefined;
}

/** The most cycles that an answer may cost; the rest is refunded. */
export interface Prepaid {
  /** For its transmission. */
  readonly response: bigint;
  /** For the callback. */
  readonly callback: bigint;
}

/** A call that waits for its answer. */
export interface OpenCall {
  readonly context: CallContext;
  readonly call: OutgoingCall;
  /** Its callee is at work, or has been. */
  hasBegun: boolean;
}

/** The number of calls, in all and by callee. */
export interface CallCount {
  total: number;
  readonly byCallee: Map<string, number>;
}

/** Services of the replica for its canisters. */
export interface World {
  /** Calls of all canisters that wait for an answer. */
  readonly waitingCalls: { count: number };
  readonly now: () => bigint;
  readonly limits: Limits;
  readonly dataCertificate: DataCertificateSource;
  readonly rootKey: () => Uint8Array;
  readonly subnetId: () => Uint8Array;
  readonly onPrint: (canisterId: string, text: string) => void;
  /** Ids that no new canister gets unless it is asked for. */
  readonly reservedIds: ReadonlySet<string>;
}

/** Changes of one message, thrown away when it traps. */
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
  /** The counts of `calls`; absent before the first. */
  performed: CallCount | undefined;
  pendingCall: OutgoingCall | undefined;
  isAccepted: boolean;
  /** The lines that it printed; made at the first line. */
  printed: MessageLog | undefined;
}

export interface Execution {
  readonly world: World;
  readonly context: Context;
  readonly canister: Canister;
  readonly sandbox: Sandbox;
  readonly stable: StableMemory;
  /** Pages of it that were read or written. */
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
  /** Paid for all of these before it begins: the balance is without it until the message ends. */
  readonly prepaidCycles: bigint;
  /** Only for the target of a query call, not for what it calls. */
  readonly hasCertificate: boolean;
  readonly effects: Effects;
}

/** The execution that an instance's `ic0` functions serve at the moment. */
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
