// The execution engine: connects its parts behind the interfaces of core.ts.

import { createHash } from 'node:crypto';
import { Principal } from '@dfinity/principal';
import type {
  CallMessage,
  DataCertificateSource,
  Engine,
  Lifecycle,
  Management,
  MessageReport,
  Outcome,
  StateStore,
} from '../core.ts';
import { StateDamage } from '../state-damage.ts';
import { subnetOf } from '../subnet-ranges.ts';
import type { SubnetType } from '../subnet-type.ts';
import { createCompiler } from '../wasm/compile.ts';
import type { OpenCall } from './canister.ts';
import { decodeRecord } from './canister-record.ts';
import { createClock, enqueueLowMemoryHook, tickOnce } from './clock.ts';
import { CompiledModules } from './compiled-modules.ts';
import type { EngineState } from './core-state.ts';
import { createCanister, viewCanister } from './core-state.ts';
import type { CallReceiver, SubnetPlace } from './cross-subnet.ts';
import { ic0Interface } from './ic0-table.ts';
import { checkIngress, managementText, receptionCycles, updateManagement } from './ingress.ts';
import { resumeCode } from './install.ts';
import { createLifecycle } from './lifecycle.ts';
import type { Limits } from './limits.ts';
import { networkLimits } from './limits.ts';
import { answerQuery } from './queries.ts';
import { answerLostCall, enqueueCall, executeManagement } from './routing.ts';
import { Scheduler } from './scheduler.ts';

export interface EngineOptions {
  readonly store: StateStore;
  readonly now: () => bigint;
  readonly dataCertificate: DataCertificateSource;
  readonly management: (lifecycle: Lifecycle) => Management;
  readonly rootKey: () => Uint8Array;
  readonly limits?: Partial<Limits>;
  /** Default: `application`. */
  readonly subnetType?: SubnetType;
  readonly onReport?: (report: MessageReport) => void;
  readonly onPrint?: (canisterId: string, text: string) => void;
  readonly reservedIds?: ReadonlySet<string>;
  /** The place among several subnets; absent: the root subnet with all canisters. */
  readonly subnet?: SubnetPlace;
  /** Called for an error of the replica itself, not of a canister. */
  readonly onFault?: (error: unknown) => void;
}

export interface ResumeFailure {
  readonly canisterId: string;
  readonly reason: string;
}

export interface RunningEngine extends Engine, Lifecycle, CallReceiver {
  /** Runs everything that is due, including heartbeats, and all resulting messages. */
  tick(): Promise<void>;
  /** Resumes every stored canister; returns those that fail, which stay stored. */
  resume(): Promise<ResumeFailure[]>;
  /** Returns the time of the newest message of any canister, ns since 1970. */
  latestMessageNs(): bigint;
  startTimers(): void;
  stopTimers(): void;
  idle(): Promise<void>;
  isIdle(): boolean;
  /** Reads bytes of stable memory; beyond its end they are zero. */
  readStable(canisterId: Principal, offset: number, length: number): Uint8Array;
  lastReport(): MessageReport | undefined;
}

/** Returns the subnet's id, the self-authenticating principal of its key. IC spec, "Principals". */
function subnetIdOf(rootKey: Uint8Array): Uint8Array {
  const hash = createHash('sha224').update(rootKey).digest();
  return Uint8Array.from([...hash, 2]);
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function update(state: EngineState, message: CallMessage): Promise<Outcome> {
  const { sender, canisterId, method, arg } = message;
  const idText = canisterId.toText();
  if (idText === managementText) return updateManagement(state, message);
  return new Promise((resolve) => {
    enqueueCall(state, idText, {
      caller: sender.toUint8Array(),
      callerInfo: message.senderInfo,
      method,
      arg,
      cycles: 0n,
      deadline: 0n,
      ingressCycles: receptionCycles(state, message),
      respond: resolve,
    });
  });
}

function isOwn(subnet: SubnetPlace | undefined, idText: string): boolean {
  return !subnet || subnetOf(Principal.fromText(idText), subnet.count) === subnet.number;
}

function resume(state: EngineState): ResumeFailure[] {
  const failures: ResumeFailure[] = [];
  const calls: OpenCall[] = [];
  for (const stored of state.store.load()) {
    if (!isOwn(state.subnet, stored.id)) continue;
    try {
      const canister = createCanister(Principal.fromText(stored.id), decodeRecord(stored.record));
      // The record predates charges for time.
      if (canister.record.chargedAt === 0n) canister.record.chargedAt = state.world.now();
      // It ran on a subnet of another type.
      if (state.world.subnetType === 'cloud-engine') {
        Object.assign(canister.record, { cycles: 0n, reservedCycles: 0n });
      }
      state.canisters.set(stored.id, canister);
      calls.push(...resumeCode(state, canister));
    } catch (error) {
      // A damaged state must not be used; a canister that fails to resume stays stored.
      if (error instanceof StateDamage) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      const canister = state.canisters.get(stored.id);
      if (canister) canister.failure = reason;
      failures.push({ canisterId: stored.id, reason });
    }
  }
  for (const call of calls) answerLostCall(state, call);
  // Open calls from outside ended with the process.
  for (const canister of state.canisters.values()) {
    const isAtRest = canister.contexts.size === 0;
    if (canister.record.status === 'stopping' && isAtRest) canister.record.status = 'stopped';
    if (canister.record.lowMemoryHook === 'ready') state.onLowMemory(canister);
  }
  return failures;
}

function readStable(
  state: EngineState,
  canisterId: Principal,
  range: { readonly offset: number; readonly length: number },
): Uint8Array {
  const memory = state.store.stableMemory(canisterId.toText());
  const bytes = new Uint8Array(range.length);
  const inside = Math.min(range.length, memory.pages() * 65_536 - range.offset);
  if (inside > 0) memory.read(range.offset, bytes.subarray(0, inside));
  return bytes;
}

/** All engines of a process share compiled modules. */
const compile = createCompiler(ic0Interface);

function createState(
  options: EngineOptions,
  hooks: Pick<EngineState, 'management' | 'onReport' | 'onTimer' | 'onLowMemory'>,
): EngineState {
  const fault = options.onFault ?? ((error: unknown) => console.error(error));
  return {
    ...hooks,
    world: {
      waitingCalls: { count: 0 },
      now: options.now,
      subnetType: options.subnetType ?? 'application',
      limits: { ...networkLimits, ...options.limits },
      dataCertificate: options.dataCertificate,
      rootKey: options.rootKey,
      subnetId: () => options.subnet?.id.toUint8Array() ?? subnetIdOf(options.rootKey()),
      onPrint: options.onPrint ?? (() => undefined),
      reservedIds: options.reservedIds ?? new Set(),
    },
    store: options.store,
    subnet: options.subnet,
    canisters: new Map(),
    scheduler: new Scheduler(fault),
    compile,
    compiledModules: new CompiledModules(options.now),
    bestEffort: new Set(),
    unstored: [],
  };
}

export function createEngine(options: EngineOptions): RunningEngine {
  let management: Management | undefined;
  let last: MessageReport | undefined;
  const clock = createClock(() => state);
  const state = createState(options, {
    management: () => {
      management ??= options.management(lifecycle);
      return management;
    },
    onReport: (report) => {
      last = report;
      options.onReport?.(report);
    },
    onTimer: clock.wake,
    onLowMemory: (canister) => enqueueLowMemoryHook(state, canister),
  });
  const lifecycle = createLifecycle(state);
  return {
    ...lifecycle,
    now: options.now,
    canisters: () => [...state.canisters.values()].map((one) => viewCanister(state, one)),
    checkIngress: async (message) => checkIngress(state, message),
    update: (message) => update(state, message),
    query: (message) => answerQuery(state, message),
    async tick() {
      tickOnce(state, true);
      await state.scheduler.idle();
    },
    resume: async () => resume(state),
    latestMessageNs: () =>
      [...state.canisters.values()].reduce((last, one) => max(last, one.lastTime), 0n),
    startTimers: clock.start,
    stopTimers: clock.stop,
    idle: () => state.scheduler.idle(),
    isIdle: () => state.scheduler.isIdle(),
    subnetType: state.world.subnetType,
    receive: (idText, call) => enqueueCall(state, idText, call),
    receiveManagement: (call) => executeManagement(state, call),
    readStable: (canisterId, offset, length) => readStable(state, canisterId, { offset, length }),
    lastReport: () => last,
  };
}
