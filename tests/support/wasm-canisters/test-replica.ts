// An engine with a store in memory, a clock that tests advance, and a management canister whose
// answers tests choose.

import { Principal } from '@dfinity/principal';
import type {
  Management,
  ManagementCall,
  ManagementResult,
  MessageReport,
  Outcome,
  StateStore,
} from '../../../packages/replica/src/core.ts';
import type {
  EngineOptions,
  RunningEngine,
} from '../../../packages/replica/src/execution/engine.ts';
import { createEngine } from '../../../packages/replica/src/execution/engine.ts';
import { createMemoryStore } from '../../../packages/replica/src/persistence/memory-store.ts';

export const anybody = Principal.anonymous();
export const plenty = 10n ** 16n;
const empty: Uint8Array = new Uint8Array();

export interface TestReplica {
  readonly engine: RunningEngine;
  readonly store: StateStore;
  readonly reports: MessageReport[];
  readonly managementCalls: ManagementCall[];
  readonly time: { now: bigint };
  install(module: Uint8Array, cycles?: bigint): Promise<Principal>;
  update(id: Principal, method: string, arg?: Uint8Array): Promise<Outcome>;
  query(id: Principal, method: string, arg?: Uint8Array): Promise<Outcome>;
}

type Answer = (call: ManagementCall) => ManagementResult | Promise<ManagementResult>;

const echo: Answer = (call) => ({
  outcome: { status: 'replied', arg: call.arg },
  refundedCycles: call.cycles,
});

export function startTestReplica(
  options: Partial<EngineOptions> & { readonly answer?: Answer } = {},
): TestReplica {
  const { answer = echo, ...engineOptions } = options;
  const reports: MessageReport[] = [];
  const managementCalls: ManagementCall[] = [];
  const time = { now: 1_700_000_000_000_000_000n };
  const store = options.store ?? createMemoryStore();
  const management: Management = {
    checkIngress: () => undefined,
    ingressPayer: () => undefined,
    async execute(call) {
      managementCalls.push(call);
      return answer(call);
    },
  };
  const engine = createEngine({
    store,
    now: () => time.now,
    dataCertificate: () => Uint8Array.of(1, 2, 3),
    rootKey: () => new Uint8Array(133),
    management: () => management,
    onReport: (report) => reports.push(report),
    ...engineOptions,
  });
  const message = (canisterId: Principal, method: string, arg = empty) => ({
    sender: anybody,
    canisterId,
    method,
    arg,
  });
  return {
    engine,
    store,
    reports,
    managementCalls,
    time,
    async install(module, cycles = plenty) {
      const id = engine.create({ controllers: [anybody], cycles });
      if ('status' in id) throw new Error(id.message);
      const refused = await installOn(engine, { canisterId: id, module });
      if (refused) throw new Error(refused);
      return id;
    },
    update: (id, method, arg) => engine.update(message(id, method, arg)),
    query: (id, method, arg) => engine.query(message(id, method, arg)),
  };
}

/** Installs and returns the refusal's text, if there was one. */
export async function installOn(
  engine: RunningEngine,
  options: {
    readonly canisterId: Principal;
    readonly module: Uint8Array;
    readonly mode?: 'install' | 'reinstall' | 'upgrade';
    readonly arg?: Uint8Array;
  },
): Promise<string | undefined> {
  const refused = await engine.install({
    mode: 'install',
    arg: empty,
    sender: anybody,
    ...options,
  });
  return refused?.message;
}

/** Returns the number in a reply, little endian; throws a reject's message. */
export function numberOf(outcome: Outcome): number {
  if (outcome.status === 'rejected') throw new Error(outcome.message);
  const bytes = Buffer.from(outcome.arg);
  return bytes.length === 4 ? bytes.readInt32LE() : Number(bytes.readBigInt64LE());
}

export function textOf(outcome: Outcome): string {
  return outcome.status === 'rejected'
    ? `${outcome.errorCode}: ${outcome.message}`
    : Buffer.from(outcome.arg).toString();
}

/** Returns a text as bytes. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
