// The engines of all subnets as one, for calls in process and for the gateway: each operation goes
// to the subnet of its canister.

import type { Principal } from '@dfinity/principal';
import type { CallMessage, CanisterView, Engine, Lifecycle, StateStore } from './core.ts';
import type { RunningEngine } from './execution/engine.ts';
import { managementText } from './execution/ingress.ts';
import { effectiveCanisterId } from './management/access.ts';
import type { Streams } from './network/streams.ts';
import { subnetOf } from './subnet-ranges.ts';

type Shared =
  | 'install'
  | 'tick'
  | 'resume'
  | 'latestMessageNs'
  | 'startTimers'
  | 'stopTimers'
  | 'idle'
  | 'readStable';

export interface JoinedEngine extends Engine, Pick<RunningEngine, Shared> {
  /** `subnet`: the number of the subnet; absent: that of the id, otherwise the first. */
  create(
    options: Parameters<Lifecycle['create']>[0] & { readonly subnet?: number | undefined },
  ): ReturnType<Lifecycle['create']>;
}

/** The root engine, then those of the other subnets by number. */
export type Engines = readonly [root: RunningEngine, ...subnets: RunningEngine[]];

/** Returns the number of the subnet on which new canisters are created by default. */
export function firstSubnet(subnetCount: number): number {
  return subnetCount > 0 ? 1 : 0;
}

/** Returns the number of the subnet that executes a message. */
function executingSubnet(
  { canisterId, method, arg }: Pick<CallMessage, 'canisterId' | 'method' | 'arg'>,
  subnetCount: number,
): number {
  if (canisterId.toText() !== managementText) return subnetOf(canisterId, subnetCount);
  const concerned = effectiveCanisterId(method, arg);
  return concerned ? subnetOf(concerned, subnetCount) : firstSubnet(subnetCount);
}

export function joinEngines(
  engines: Engines,
  { store, streams }: { readonly store: StateStore; readonly streams: Streams },
): JoinedEngine {
  const [root] = engines;
  const count = engines.length - 1;
  const at = (number: number) => engines[number] ?? root;
  const of = (canisterId: Principal) => at(subnetOf(canisterId, count));
  const executing = (message: CallMessage) => at(executingSubnet(message, count));
  const idle = async () => {
    const busy = () => engines.find((engine) => !engine.isIdle());
    for (let one = busy(); one || !streams.isEmpty(); one = busy()) {
      await (one ? one.idle() : streams.delivered());
    }
  };
  return {
    now: root.now,
    canister: (id) => of(id).canister(id),
    canisters: () => (count === 0 ? root.canisters() : canistersByAge(engines, store)),
    checkIngress: (message) => executing(message).checkIngress(message),
    update: (message) => executing(message).update(message),
    query: (message) => executing(message).query(message),
    create: ({ subnet, ...options }) => {
      const byDefault = options.id ? subnetOf(options.id, count) : firstSubnet(count);
      return at(subnet ?? byDefault).create(options);
    },
    install: (options) => of(options.canisterId).install(options),
    async tick() {
      await Promise.all(engines.map((engine) => engine.tick()));
      await idle();
    },
    async resume() {
      const failures = await Promise.all(engines.map((engine) => engine.resume()));
      return failures.flat();
    },
    latestMessageNs: () =>
      engines.reduce((last, engine) => {
        const time = engine.latestMessageNs();
        return time > last ? time : last;
      }, 0n),
    startTimers: () => {
      for (const engine of engines) engine.startTimers();
    },
    stopTimers: () => {
      for (const engine of engines) engine.stopTimers();
    },
    idle,
    readStable: (id, offset, length) => of(id).readStable(id, offset, length),
  };
}

/** Returns the canisters of all subnets, the oldest first. */
function canistersByAge(engines: Engines, store: StateStore): readonly CanisterView[] {
  const views = engines.flatMap((engine) => [...engine.canisters()]);
  const byId = new Map(views.map((view) => [view.id.toText(), view]));
  return store.load().flatMap(({ id }) => byId.get(id) ?? []);
}
