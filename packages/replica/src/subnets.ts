// The subnets of a replica: each has an engine with blocks and messages of its own, a key, and a
// node. They share the store, the clock, and the secrets of the management canister.

import type { Principal } from '@dfinity/principal';
import type { Management, StateStore } from './core.ts';
import type { Neighbors } from './execution/cross-subnet.ts';
import type { EngineOptions, RunningEngine } from './execution/engine.ts';
import { createEngine } from './execution/engine.ts';
import { type JoinedEngine, joinEngines } from './joined-engines.ts';
import { effectiveCanisterId } from './management/access.ts';
import { Streams, type Transit } from './network/streams.ts';
import type { Certification } from './state/certification.ts';
import { createCertification, subnetFacts } from './state/certification.ts';
import { subnetOf } from './subnet-ranges.ts';
import type { SubnetType } from './subnet-type.ts';

export interface Subnet {
  readonly engine: RunningEngine;
  readonly certification: Certification;
}

/** The root subnet, then the others by number. */
export type SubnetList = readonly [root: Subnet, ...others: Subnet[]];

export interface Subnets {
  readonly list: SubnetList;
  /** The engines of all subnets as one. */
  readonly engine: JoinedEngine;
}

export interface SubnetsOptions {
  /** The number of subnets besides the root subnet. */
  readonly count: number;
  /** The type of these, or of the root subnet if it is the only one. */
  readonly type: SubnetType;
  readonly store: StateStore;
  readonly rootSecret: Uint8Array;
  readonly engine: Omit<
    EngineOptions,
    'store' | 'dataCertificate' | 'rootKey' | 'subnet' | 'subnetType' | 'management'
  >;
  /** Creates the management canister of a subnet. */
  management(
    lifecycle: Parameters<EngineOptions['management']>[0],
    own: { readonly engine: () => RunningEngine; readonly subnetType: SubnetType },
  ): Management;
  readonly transit: Transit;
}

export function createSubnets(options: SubnetsOptions): Subnets {
  const { count, store, rootSecret } = options;
  const facts = subnetFacts(rootSecret, count, options.type);
  const numberOf = (id: Principal) => subnetOf(id, count);
  const streams = new Streams({
    pairOf: ({ from, to }) => `${numberOf(from)} ${numberOf(to)}`,
    transit: options.transit,
  });
  const create = (number: number, root?: Certification): Subnet => {
    const certification = createCertification({
      rootSecret,
      engine: () => engine,
      subnet: { number, subnets: facts, root },
    });
    const neighbors: Neighbors = {
      find: (id) => (numberOf(id) === number ? undefined : list[numberOf(id)]?.engine),
      concerned: effectiveCanisterId,
      send: (message, deliver) => streams.send(message, deliver),
    };
    const subnetType = number === 0 && count > 0 ? 'application' : options.type;
    const engine: RunningEngine = createEngine({
      ...options.engine,
      store,
      dataCertificate: certification.dataCertificate,
      rootKey: certification.rootKey,
      subnetType,
      management: (lifecycle) =>
        options.management(lifecycle, { engine: () => engine, subnetType }),
      subnet: { number, count, id: certification.subnetId, neighbors },
    });
    return { engine, certification };
  };
  const root = create(0);
  const others = Array.from({ length: count }, (_, index) => create(index + 1, root.certification));
  const list: SubnetList = [root, ...others];
  const engines = [root.engine, ...others.map(({ engine }) => engine)] as const;
  return { list, engine: joinEngines(engines, { store, streams }) };
}
