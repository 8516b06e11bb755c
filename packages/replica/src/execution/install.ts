// Installs code: install, reinstall, upgrade, and resuming a canister after a restart. Each is
// atomic. IC spec, "IC method install_code" and "Abstract behavior: Code installation, upgrade".

import type { Principal } from '@dfinity/principal';
import type { ChangeOrigin, InstallMode, Reject, UpgradeOptions, ValueChange } from '../core.ts';
import { chargeOn } from '../subnet-type.ts';
import type { CompiledModule } from '../wasm/compile.ts';
import { hashModule } from '../wasm/compile.ts';
import { persistenceSection } from '../wasm/custom-sections.ts';
import { startExport } from '../wasm/instrument.ts';
import { EngineRefusal, InvalidModule } from '../wasm/invalid-module.ts';
import { webAssembly } from '../wasm/web-assembly.ts';
import type { Canister, CanisterRecord, Execution, OpenCall } from './canister.ts';
import { clearLog, logChanges } from './canister-log.ts';
import type { Context } from './context.ts';
import type { EngineState } from './core-state.ts';
import { commitRecord, nextTime } from './core-state.ts';
import {
  CanisterTrap,
  engineRefused,
  installationTooDear,
  instructionsExceeded,
  invalidModule,
  noModule,
  notEmpty,
  rejectOfTrap,
  storageFailed,
  trapped,
  upgradeRefused,
} from './errors.ts';
import { createExecution } from './execution.ts';
import { allocatedBytes, freezingReserve, missingCycles } from './freezing.ts';
import { historyWith } from './history.ts';
import { createHost } from './ic0-host.ts';
import { chargeIdle } from './idle.ts';
import { newInstance, restoreInstance } from './instance-image.ts';
import { nextLowMemoryHook } from './low-memory-hook.ts';
import { compilationInstructions, executionCycles } from './prices.ts';
import { runEntry } from './run-entry.ts';
import { prepay, reportOf } from './run-message.ts';
import { type HeapImage, Sandbox } from './sandbox.ts';
import { payForGrowth } from './storage-growth.ts';

export interface Installation {
  readonly canister: Canister;
  readonly mode: InstallMode;
  readonly module: Uint8Array;
  readonly arg: Uint8Array;
  readonly sender: Principal;
  readonly upgrade?: UpgradeOptions;
  readonly origin?: ChangeOrigin;
}

interface Draft {
  readonly state: EngineState;
  /** A copy of the canister, whose record the steps may change. */
  readonly canister: Canister;
  readonly caller: Uint8Array;
  readonly arg: Uint8Array;
  instructionsLeft: bigint;
  /** Charged cycles that no step's report includes yet. */
  unreportedCycles: bigint;
  /** The newest step; it has the printed lines of all steps. */
  last: Execution | undefined;
}

/** Runs one step; throws a trap, which ends the installation. */
function runStep(
  draft: Draft,
  step: {
    readonly context: Context;
    readonly sandbox: Sandbox;
    readonly name: string;
    readonly isPostUpgrade?: boolean;
  },
): void {
  const { state, canister, caller, arg } = draft;
  const { sandbox, context, name } = step;
  const execution = createExecution({
    world: state.world,
    context,
    canister,
    sandbox,
    stable: state.store.stableMemory(canister.idText),
    limit: draft.instructionsLeft,
    time: nextTime(state, canister),
    caller,
    arg,
  });
  execution.effects.printed = draft.last?.effects.printed;
  draft.last = execution;
  const invoke = () => sandbox.callExport(name);
  const result = runEntry({ execution, slot: canister.slot, invoke });
  draft.instructionsLeft -= result.instructions;
  const price = chargeOn(state.world.subnetType, result.instructions);
  const cycles = draft.unreportedCycles + price;
  draft.unreportedCycles = 0n;
  const kind = step.isPostUpgrade ? { kind: 'postUpgrade' as const } : {};
  state.onReport(reportOf(execution, result, { cycles, ...kind }));
  if (result.trap) throw result.trap;
  const { effects } = execution;
  canister.record = {
    ...canister.record,
    certifiedData: effects.certifiedData ?? canister.record.certifiedData,
    globalTimer: effects.globalTimer ?? canister.record.globalTimer,
    cycles: effects.cycles,
  };
}

function instantiate(draft: Draft, module: CompiledModule, heap?: HeapImage): Sandbox {
  try {
    return new Sandbox(module, createHost(draft.canister.slot, module.shape.address), heap);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (!(error instanceof webAssembly.RuntimeError)) throw trapped(why);
    // The network validates data segments itself, and leaves element segments to its engine.
    throw why.includes('data segment') ? new InvalidModule(why) : new EngineRefusal(why);
  }
}

/** Runs the new code: `start`, then the entry point of the mode. */
function startCode(
  draft: Draft,
  module: CompiledModule,
  start: { readonly isUpgrade: boolean; readonly heap?: HeapImage | undefined },
): Sandbox {
  const { isUpgrade, heap } = start;
  const sandbox = instantiate(draft, module, heap);
  if (module.shape.hasStart) runStep(draft, { context: 's', sandbox, name: startExport });
  const name = isUpgrade ? 'canister_post_upgrade' : 'canister_init';
  if (module.exports.has(name)) {
    runStep(draft, { context: 'I', sandbox, name, isPostUpgrade: isUpgrade });
  }
  return sandbox;
}

function createDraft(
  state: EngineState,
  options: { readonly canister: Canister; readonly sender: Principal; readonly arg: Uint8Array },
): Draft {
  return {
    state,
    canister: { ...options.canister },
    caller: options.sender.toUint8Array(),
    arg: options.arg,
    instructionsLeft: state.world.limits.installInstructions,
    unreportedCycles: chargeOn(state.world.subnetType, executionCycles(0n)),
    last: undefined,
  };
}

/** IC spec: the timer never survives; certified data survives only an upgrade. */
function renewRecord(record: CanisterRecord, change: Pick<Installation, 'mode'>): CanisterRecord {
  const isUpgrade = change.mode === 'upgrade';
  const certifiedData = isUpgrade ? record.certifiedData : new Uint8Array();
  return { ...record, certifiedData, globalTimer: 0n, version: record.version + 1n };
}

const hexOf = (hash: Uint8Array) => Buffer.from(hash).toString('hex');

const argumentKey = (idText: string) => `installation argument of ${idText}`;

interface Compiled {
  readonly module: CompiledModule;
  readonly hash: Uint8Array;
}

/** `dfinity/ic` rs/embedders: compilation counts towards the installation's instructions. */
function chargeCompilation(draft: Draft, { module, hash }: Compiled): void {
  const isKnown = draft.state.compiledModules.has(hexOf(hash));
  const instructions = compilationInstructions(module.shape.instructions, isKnown);
  draft.unreportedCycles += chargeOn(draft.state.world.subnetType, instructions);
  draft.instructionsLeft -= instructions;
  if (draft.instructionsLeft >= 0n) return;
  draft.instructionsLeft = 0n;
  throw instructionsExceeded(draft.state.world.limits.installInstructions);
}

function runInstallation(draft: Draft, installation: Installation, compiled: Compiled): void {
  const { state, canister: changed } = draft;
  const { canister, mode, upgrade } = installation;
  const preUpgrade = 'canister_pre_upgrade';
  const hasPreUpgrade = canister.module?.exports.has(preUpgrade) && !upgrade?.skipPreUpgrade;
  if (mode === 'upgrade' && canister.sandbox && hasPreUpgrade) {
    runStep(draft, { context: 'G', sandbox: canister.sandbox, name: preUpgrade });
  }
  if (mode === 'reinstall') state.store.stableMemory(canister.idText).clear();
  changed.record = renewRecord(changed.record, installation);
  const before = allocatedBytes(state, canister);
  chargeCompilation(draft, compiled);
  state.compiledModules.add(hexOf(compiled.hash));
  const keepsHeap = mode === 'upgrade' && upgrade?.wasmMemoryPersistence === 'keep';
  const heap = keepsHeap ? canister.sandbox?.heapImage() : undefined;
  const sandbox = startCode(draft, compiled.module, { isUpgrade: mode === 'upgrade', heap });
  const lowMemoryHook = nextLowMemoryHook(changed.record, sandbox.heap().length);
  Object.assign(changed, { sandbox, moduleBytes: installation.module.length });
  const reserved = payInstalled(draft, before);
  const paid = installationCycles(draft);
  const record = {
    ...changed.record,
    moduleHash: compiled.hash,
    lowMemoryHook,
    cycles: changed.record.cycles + prepaidFor(state) - paid - reserved,
    reservedCycles: changed.record.reservedCycles + reserved,
  };
  state.store.putModule(hexOf(compiled.hash), installation.module);
  state.store.setValue(argumentKey(canister.idText), installation.arg);
  const values = [
    ...loggedBy(draft, mode === 'reinstall'),
    deploymentChange(state, installation, record),
  ];
  commitRecord(state, { canister, record, values, heap: () => newInstance(canister, sandbox) });
  sandbox.commit();
  canister.module = compiled.module;
  canister.moduleBytes = changed.moduleBytes;
  canister.sandbox = sandbox;
  // A timer that `canister_init` or `canister_post_upgrade` set can run only after the code is in
  // place.
  state.onTimer();
  canister.failure = undefined;
}

function prepaidFor({ world }: EngineState): bigint {
  return chargeOn(world.subnetType, executionCycles(world.limits.installInstructions));
}

function installationCycles({ state, instructionsLeft }: Draft): bigint {
  return prepaidFor(state) - chargeOn(state.world.subnetType, instructionsLeft);
}

/** IC spec, "IC method install_code": the canister must not be frozen afterwards. */
function payInstalled({ state, canister: changed }: Draft, before: bigint): bigint {
  const reserved = payForGrowth(state, {
    canister: changed,
    before,
    after: allocatedBytes(state, changed),
    cycles: changed.record.cycles,
    least: freezingReserve(state, changed),
  });
  if (typeof reserved !== 'bigint') throw reserved;
  return reserved;
}

function loggedBy({ state, canister, last }: Draft, isCleared = false): ValueChange[] {
  if (last) return logChanges(state.store, last, { isCleared });
  return isCleared ? clearLog(state.store, canister.idText) : [];
}

function deploymentChange(
  state: EngineState,
  { canister, mode, origin, sender }: Installation,
  { moduleHash, version }: CanisterRecord,
): ValueChange {
  return historyWith(state.store, canister.idText, {
    timestamp: state.world.now(),
    canisterVersion: version,
    origin: origin ?? { caller: sender, isCanister: false },
    details: { kind: 'deployment', mode, moduleHash: moduleHash ?? new Uint8Array() },
  });
}

/** Adds the output of a trapped installation and the reason of the trap to the log. */
function logFailure(draft: Draft, canister: Canister, trap: CanisterTrap): void {
  const { state, last } = draft;
  if (last === undefined) return;
  const values = logChanges(state.store, last, { trap });
  commitRecord(state, { canister, record: canister.record, values });
}

/** Reverts the changes of an installation to the old code's heap and to stable memory. */
function abandonInstallation(state: EngineState, canister: Canister, cost = 0n): void {
  canister.slot.execution = undefined;
  canister.sandbox?.rollback();
  state.store.stableMemory(canister.idText).rollback();
  const { cycles } = canister.record;
  canister.record = { ...canister.record, cycles: cycles > cost ? cycles - cost : 0n };
}

function rejectOfError(canister: Canister, error: unknown): Reject {
  if (error instanceof CanisterTrap) return rejectOfTrap(canister.idText, error);
  if (error instanceof EngineRefusal) return engineRefused(canister.idText, error.message);
  if (error instanceof InvalidModule) return invalidModule(canister.idText, error.message);
  return storageFailed(error instanceof Error ? error.message : String(error));
}

/**
 * The network's two guards against losing a heap by mistake, and one of our own. `dfinity/ic`
 * `rs/execution_environment/src/execution/upgrade.rs`: determine_main_memory_handling.
 */
function refusePersistence(
  { canister, mode, upgrade }: Installation,
  module: CompiledModule,
): Reject | undefined {
  if (mode !== 'upgrade') return undefined;
  const wish = upgrade?.wasmMemoryPersistence;
  if (wish === undefined && canister.module?.metadata.has(persistenceSection)) {
    return upgradeRefused(
      'Missing upgrade option: Enhanced orthogonal persistence requires the ' +
        '`wasm_memory_persistence` upgrade option.',
    );
  }
  if (wish !== 'keep') return undefined;
  if (!module.metadata.has(persistenceSection)) {
    return upgradeRefused(
      'Invalid upgrade option: The `wasm_memory_persistence: opt Keep` upgrade option requires ' +
        'that the new canister module supports enhanced orthogonal persistence.',
    );
  }
  if (canister.sandbox !== undefined) return undefined;
  return upgradeRefused(
    `Invalid upgrade option: there is no heap to keep: ${canister.failure ?? 'nothing runs'}`,
  );
}

export function installCode(state: EngineState, installation: Installation): Reject | undefined {
  const { canister, mode, module } = installation;
  const isEmpty = canister.record.moduleHash === undefined;
  if (mode === 'install' && !isEmpty) return notEmpty(canister.idText);
  if (mode === 'upgrade' && isEmpty) return noModule(canister.idText);
  chargeIdle(state, canister);
  const missing = missingCycles(state, canister, state.world.limits.installInstructions);
  if (missing > 0n) return installationTooDear(canister.idText, missing);
  const draft = createDraft(state, installation);
  prepay(draft.canister, prepaidFor(state));
  try {
    const hash = hashModule(module);
    const compiled = state.compile(module, hexOf(hash));
    const refused = refusePersistence(installation, compiled);
    if (refused) return refused;
    runInstallation(draft, installation, { module: compiled, hash });
    return undefined;
  } catch (error) {
    abandonInstallation(state, canister, installationCycles(draft));
    if (error instanceof CanisterTrap) logFailure(draft, canister, error);
    return rejectOfError(canister, error);
  }
}

/** A Candid message without values, for a canister whose installation had no argument. */
const noArguments = new TextEncoder().encode('DIDL\0\0');

/**
 * Resumes an instance after a restart, with the calls that wait for an answer. If no heap is stored
 * (former layout, or a repair), upgrades to the same code without pre_upgrade. Throws the reason
 * why the canister cannot run.
 */
export function resumeCode(state: EngineState, canister: Canister): OpenCall[] {
  const { moduleHash } = canister.record;
  if (moduleHash === undefined) return [];
  const hex = hexOf(moduleHash);
  const bytes = state.store.getModule(hex);
  if (bytes === undefined) {
    throw new Error(`its module ${hex} is missing: upgrade it, or restore the state from a copy`);
  }
  const module = state.compile(bytes, hex);
  canister.moduleBytes = bytes.length;
  const heap = state.store.heap(canister.idText);
  if (heap === undefined) {
    resumeWithoutHeap(state, canister, module);
    return [];
  }
  const { sandbox, calls } = restoreInstance(canister, heap, module);
  canister.module = module;
  canister.sandbox = sandbox;
  return calls;
}

function resumeWithoutHeap(state: EngineState, canister: Canister, module: CompiledModule): void {
  const sender = canister.record.settings.controllers[0] ?? canister.id;
  const arg = state.store.getValue(argumentKey(canister.idText)) ?? noArguments;
  try {
    const draft = createDraft(state, { canister, sender, arg });
    draft.canister.record = renewRecord(canister.record, { mode: 'upgrade' });
    const sandbox = startCode(draft, module, { isUpgrade: true });
    const { record } = draft.canister;
    const values = loggedBy(draft);
    commitRecord(state, { canister, record, values, heap: () => newInstance(canister, sandbox) });
    sandbox.commit();
    canister.module = module;
    canister.sandbox = sandbox;
  } catch (error) {
    abandonInstallation(state, canister);
    throw error;
  }
}
