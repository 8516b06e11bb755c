// An engine without Wasm that records its calls, so that tests see what the management canister
// requested.

import { Principal } from '@dfinity/principal';
import type { CanisterView, Lifecycle, Reject } from '../../../packages/replica/src/core.ts';
import { newSettings } from '../../../packages/replica/src/execution/canister-settings.ts';
import type { CanisterSettings } from '../../../packages/replica/src/settings.ts';

interface Entry {
  readonly id: Principal;
  controllers: readonly Principal[];
  settings: CanisterSettings;
  cycles: bigint;
  status: CanisterView['status'];
  module: Uint8Array | undefined;
}

export interface FakeLifecycle extends Lifecycle {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly installs: Parameters<Lifecycle['install']>[0][];
  /** If set, the next install fails with it. */
  refusal: Reject | undefined;
}

export function createFakeLifecycle(): FakeLifecycle {
  const entries = new Map<string, Entry>();
  const get = (id: Principal) => {
    const entry = entries.get(id.toText());
    if (entry === undefined) throw new Error(`the fake engine has no canister ${id.toText()}`);
    return entry;
  };
  const fake: FakeLifecycle = {
    entries,
    installs: [],
    refusal: undefined,
    create({ controllers, cycles, id, settings }) {
      const made = id ?? Principal.fromUint8Array(Uint8Array.of(9, entries.size, 1, 1));
      entries.set(made.toText(), {
        id: made,
        controllers,
        cycles,
        settings: newSettings(controllers, settings),
        status: 'running',
        module: undefined,
      });
      return made;
    },
    async install(options) {
      if (fake.refusal !== undefined) return fake.refusal;
      fake.installs.push(options);
      get(options.canisterId).module = options.module;
      return undefined;
    },
    updateSettings(id, settings) {
      const entry = get(id);
      entry.settings = { ...entry.settings, ...settings };
      entry.controllers = entry.settings.controllers;
      return undefined;
    },
    start(id) {
      get(id).status = 'running';
      return undefined;
    },
    async stop(id) {
      get(id).status = 'stopped';
      return undefined;
    },
    uninstall(id) {
      get(id).module = undefined;
      return undefined;
    },
    remove(id) {
      const message = `Canister ${id.toText()} must be stopped before it is deleted.`;
      if (get(id).status !== 'stopped') {
        return { status: 'rejected', code: 5, message, errorCode: 'IC0510' };
      }
      entries.delete(id.toText());
      return undefined;
    },
    depositCycles(id, cycles) {
      get(id).cycles += cycles;
    },
    balance(id) {
      const entry = entries.get(id.toText());
      if (entry === undefined) return undefined;
      const { cycles, module } = entry;
      const moduleBytes = module?.length ?? 0;
      return { cycles, reservedCycles: 6n, idleCyclesPerDay: 7n, moduleBytes };
    },
    snapshots: { list: () => [] } as Partial<Lifecycle['snapshots']> as Lifecycle['snapshots'],
    logs: () => [],
    history: () => ({ total: 0n, changes: [] }),
    settings: (id) => entries.get(id.toText())?.settings,
    canister(id) {
      const entry = entries.get(id.toText());
      if (entry === undefined) return undefined;
      return {
        ...entry,
        moduleHash: entry.module && new Uint8Array(32).fill(entry.module.length),
        certifiedData: new Uint8Array(0),
        version: 3n,
        heapBytes: 65_536,
        stableBytes: 2 ** 30,
        metadata: new Map(),
      };
    },
  };
  return fake;
}
