// The local replica: engine, management canister, certificates, persistence, and the HTTP server
// with agent endpoints and gateway. README.md documents the in-process API.

import { randomBytes } from 'node:crypto';
import type { Principal } from '@dfinity/principal';
import type { AgentContext } from './agent/agent-context.ts';
import { type AgentEndpoints, createAgentEndpoints } from './agent/agent-endpoints.ts';
import { readAllowedOrigins } from './agent-access.ts';
import { builtInIds, withBuiltIns } from './built-in/built-in.ts';
import type { CanisterView, MessageReport, StateStore } from './core.ts';
import type { ResumeFailure } from './execution/engine.ts';
import type { Limits } from './execution/limits.ts';
import { createGateway, type PreflightMode } from './gateway/gateway.ts';
import { startHttpServer } from './http-server.ts';
import type { InProcessCalls, PrincipalLike } from './in-process-calls.ts';
import { createInProcessCalls, toPrincipal } from './in-process-calls.ts';
import { firstSubnet, type JoinedEngine } from './joined-engines.ts';
import type { LoopbackServer } from './loopback.ts';
import { effectiveCanisterId } from './management/access.ts';
import { createManagement } from './management/management.ts';
import { createSigningKeys } from './management/signing-keys.ts';
import { createVetKeys } from './management/vetkd.ts';
import { createNetwork, type Network } from './network/network.ts';
import { type NetworkProfile, profileOf } from './network/profile.ts';
import type { QueryFaults } from './network/query-faults.ts';
import type { Outcalls } from './outcalls.ts';
import { openDiskStore } from './persistence/disk-store.ts';
import { createMemoryStore } from './persistence/memory-store.ts';
import { removeState } from './persistence/state-folder.ts';
import type { ReplicaClock } from './replica-clock.ts';
import { createReplicaClock } from './replica-clock.ts';
import { createHttpLookup } from './serves-http.ts';
import { checkedSubnetCount } from './subnet-ranges.ts';
import { checkedSubnetType, type SubnetType } from './subnet-type.ts';
import { createSubnets, type Subnet, type SubnetList } from './subnets.ts';

const seedBytes = 32;
const reportsMax = 10_000;
/** Time limit for running messages when the replica stops. */
const stopMilliseconds = 5_000;

export interface ReplicaOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Whether to serve HTTP; default true. */
  readonly server?: boolean;
  /** Origins of pages that may call the agent endpoints, besides localhost and its subdomains. */
  readonly allowedOrigins?: readonly string[];
  /** Folder that stores the state across runs; absent: in memory. */
  readonly stateDir?: string;
  /** Deletes the state in that folder first. */
  readonly clean?: boolean;
  /** Waits for the disk at each commit; default true. If false, a power cut may lose changes. */
  readonly sync?: boolean;
  /** Returns to the last intact state if the state is damaged; `onNote` receives the loss. */
  readonly repair?: boolean;
  /** Receives sentences about state that had to be changed, and about a late system clock. */
  readonly onNote?: (sentence: string) => void;
  /**
   * Called before each write to the state with its number of bytes; an exception fails the write.
   */
  readonly onDiskWrite?: (bytes: number) => void;
  /**
   * Number of subnets, 1 to 16, whose certificates have a delegation of the root subnet; default 0:
   * the root subnet runs all canisters, and its certificates have no delegation.
   */
  readonly subnets?: number;
  /**
   * Type of the subnets for new canisters; default `application`. With `cloud-engine`, `subnets` is
   * 1 by default, and the root subnet is the rest of the network: an application subnet.
   */
  readonly subnetType?: SubnetType;
  /** The clock, ns since 1970. With one, only `tick()` runs timers. */
  readonly now?: () => bigint;
  readonly limits?: Partial<Limits>;
  /** Executes HTTPS outcalls; without it they are refused. `fetchOutcalls` sends real requests. */
  readonly outcalls?: Outcalls;
  /** Makes HTTP as slow as a network: `mainnet` or custom figures. In-process calls stay fast. */
  readonly profile?: string | NetworkProfile;
  /** Seeds the random numbers of the profile: the same seed repeats them. */
  readonly seed?: number;
  /** A node that answers queries wrongly; `{}` for one that `setFaults` changes later. */
  readonly faults?: QueryFaults;
  /** Whether canisters (`passed-on`, the default) or the gateway (`answered`) answer OPTIONS. */
  readonly preflights?: PreflightMode;
  readonly onReport?: (report: MessageReport) => void;
  readonly onPrint?: (canisterId: string, text: string) => void;
}

export interface StableMemoryView {
  /** Size in bytes, a multiple of 64 KiB. */
  readonly bytes: number;
  /** Reads committed bytes; those beyond the size are zero. */
  read(offset: number, length: number): Uint8Array;
}

export interface Replica extends InProcessCalls {
  /** `http://localhost:PORT`; empty without a server. */
  readonly url: string;
  readonly port: number;
  /** DER, 133 bytes. */
  readonly rootKey: Uint8Array;
  /** Ids of the subnets for new canisters: those asked for, or the root subnet. */
  readonly subnets: readonly Principal[];
  /** Id of the root subnet, which `createCanister` also accepts. */
  readonly rootSubnet: Principal;
  /** Type of `subnets`. */
  readonly subnetType: SubnetType;
  /** Stored canisters whose code could not be resumed. */
  readonly resumeFailures: readonly ResumeFailure[];
  /** The newest reports, oldest first. */
  readonly reports: readonly MessageReport[];
  lastMessage(): MessageReport | undefined;
  canisters(): CanisterView[];
  /**
   * Sets the canister of plain `localhost` until the replica stops; by default the oldest that
   * serves HTTP.
   */
  serveAtPlainAddress(canisterId: PrincipalLike): void;
  stableMemory(canisterId: PrincipalLike): StableMemoryView;
  /** Runs everything that is due, including heartbeats, and all resulting messages. */
  tick(): Promise<void>;
  /** Moves the clock forward; from then on only `tick()` runs timers. */
  advanceTime(nanoseconds: bigint): void;
  /** Replaces the faults. Throws an Error unless the replica was started with `faults`. */
  setFaults(faults: QueryFaults): void;
  stop(): Promise<void>;
}

interface Core {
  readonly store: StateStore;
  readonly subnets: SubnetList;
  readonly subnetType: SubnetType;
  /** The engines of all subnets as one. */
  readonly engine: JoinedEngine;
  readonly clock: ReplicaClock;
  readonly reports: MessageReport[];
  /** The canister of plain `localhost`, if it was set. */
  readonly plainAddress: { canisterId: Principal | undefined };
  /** Absent unless requested. */
  readonly network: Network | undefined;
}

/** Resolves when the server listens; throws with a remedy for a taken port or unusable folder. */
export async function startReplica(options: ReplicaOptions = {}): Promise<Replica> {
  const allowedOrigins = readAllowedOrigins(options.allowedOrigins);
  const subnetType = checkedSubnetType(options.subnetType ?? 'application');
  const byDefault = subnetType === 'cloud-engine' ? 1 : 0;
  const subnetCount = checkedSubnetCount(options.subnets ?? byDefault);
  const store = openStore(options);
  let engine: JoinedEngine | undefined;
  try {
    const core = createCore(options, { store, subnetCount, subnetType });
    engine = core.engine;
    const resumeFailures = await engine.resume();
    core.clock.continueFrom(engine.latestMessageNs());
    for (const { canisterId, reason } of resumeFailures) {
      options.onNote?.(`Canister ${canisterId} could not be resumed: ${reason}`);
    }
    const { port = 0, server: hasServer = true, preflights } = options;
    const listener = { port, allowedOrigins, preflights };
    const server = hasServer ? await startServer(core, listener) : undefined;
    if (options.now === undefined) engine.startTimers();
    return createApi(core, { server, resumeFailures });
  } catch (error) {
    engine?.stopTimers();
    store.close();
    throw error;
  }
}

function openStore(options: ReplicaOptions): StateStore {
  const { stateDir, sync, clean, repair, onNote = () => undefined, onDiskWrite } = options;
  if (stateDir === undefined) return createMemoryStore();
  if (clean === true) removeState(stateDir);
  return openDiskStore(stateDir, {
    onNote,
    ...(sync !== undefined && { sync }),
    ...(repair === true && { onRepair: onNote }),
    ...(onDiskWrite && { onWrite: onDiskWrite }),
  });
}

function createCore(
  options: ReplicaOptions,
  parts: Pick<Core, 'store' | 'subnetType'> & { readonly subnetCount: number },
): Core {
  const { store, subnetCount, subnetType } = parts;
  const clock = createReplicaClock({ source: options.now, onNote: options.onNote });
  const reports: MessageReport[] = [];
  const vetKeys = createVetKeys(secretSeed(store, 'vetKD seed'));
  const signingKeys = createSigningKeys(secretSeed(store, 'signing seed'));
  const { outcalls: carryOut } = options;
  const random = () => new Uint8Array(randomBytes(32));
  const { list: subnets, engine } = createSubnets({
    count: subnetCount,
    type: subnetType,
    store,
    rootSecret: secretSeed(store, 'root key seed'),
    engine: {
      now: clock.now,
      reservedIds: builtInIds,
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...(options.onPrint === undefined ? {} : { onPrint: options.onPrint }),
      onReport: (report) => {
        reports.push(report);
        if (reports.length > reportsMax) reports.shift();
        network?.onReport(report);
        options.onReport?.(report);
      },
    },
    management: (lifecycle, own) =>
      createManagement(lifecycle, {
        random,
        vetKeys,
        signingKeys,
        subnetType: own.subnetType,
        outcalls: carryOut && { carryOut, query: (message) => own.engine().query(message) },
      }),
    transit: async (message) => network?.transit?.(message),
  });
  const plainAddress = { canisterId: undefined };
  const network = openNetwork(options, { engine, subnets });
  return { store, subnets, subnetType, engine, clock, reports, plainAddress, network };
}

function openNetwork(
  options: ReplicaOptions,
  { engine, subnets: list }: Pick<Core, 'engine' | 'subnets'>,
): Network | undefined {
  const { faults, seed } = options;
  const profile = options.profile === undefined ? undefined : profileOf(options.profile);
  if (profile === undefined && faults === undefined) return undefined;
  const subnets = list.map((subnet) => subnet.engine);
  return createNetwork({ engine, subnets, profile, faults, seed });
}

/** Returns the secret, which the first start creates and stores. */
function secretSeed(store: StateStore, name: string): Uint8Array {
  const stored = store.getValue(name);
  if (stored !== undefined) return stored;
  const seed = new Uint8Array(randomBytes(seedBytes));
  store.setValue(name, seed);
  return seed;
}

interface Listener {
  readonly port: number;
  readonly allowedOrigins: ReadonlySet<string>;
  readonly preflights: PreflightMode | undefined;
}

function startServer(core: Core, { preflights, ...listener }: Listener): Promise<LoopbackServer> {
  const { engine, subnets, store, plainAddress, network } = core;
  const [{ certification: root }] = subnets;
  const gateway = createGateway({
    engine: network?.gatewayEngine ?? engine,
    cache: network?.cache,
    rootKey: root.rootKey(),
    servesHttp: createHttpLookup(store),
    plainCanister: () => plainAddress.canisterId,
    bodyMs: network?.clientTimes?.bodyMs,
    preflights,
  });
  const { handle } = endpointsOf(core);
  const handleApi = network?.slowApi(handle) ?? handle;
  const clientTimes = network?.clientTimes;
  return startHttpServer({ ...listener, gateway, handleApi, clientTimes });
}

/** Returns the agent endpoints of all subnets. */
function endpointsOf({ subnets, clock, network }: Core): AgentEndpoints {
  const engineOf = (own: Subnet, number: number) => network?.agentEngines[number] ?? own.engine;
  const all = subnets.map((own, number) => {
    return { id: own.certification.subnetId, engine: engineOf(own, number) };
  });
  const forNew = all.slice(firstSubnet(subnets.length - 1));
  const contextOf = (own: Subnet, number: number): AgentContext => ({
    engine: withBuiltIns(engineOf(own, number), forNew),
    certification: own.certification,
    now: clock.now,
    effectiveCanisterId,
    faultyNode: network?.faultyNode,
  });
  const [root, ...others] = subnets;
  const contexts = others.map((own, index) => contextOf(own, index + 1));
  return createAgentEndpoints(contextOf(root, 0), contexts);
}

function createApi(
  core: Core,
  started: {
    readonly server: LoopbackServer | undefined;
    readonly resumeFailures: readonly ResumeFailure[];
  },
): Replica {
  const { engine, subnets, subnetType, clock, reports, plainAddress, network } = core;
  const subnetIds = subnets.map(({ certification }) => certification.subnetId);
  const { server, resumeFailures } = started;
  let stopped: Promise<void> | undefined;
  return {
    ...createInProcessCalls(engine, subnetIds),
    url: server === undefined ? '' : `http://localhost:${server.port}`,
    port: server?.port ?? 0,
    rootKey: subnets[0].certification.rootKey(),
    subnets: subnetIds.slice(firstSubnet(subnetIds.length - 1)),
    rootSubnet: subnets[0].certification.subnetId,
    subnetType,
    resumeFailures,
    reports,
    lastMessage: () => reports.at(-1),
    canisters: () => [...engine.canisters()],
    serveAtPlainAddress: (canisterId) => {
      plainAddress.canisterId = toPrincipal(canisterId);
    },
    stableMemory: (canisterId) => viewStableMemory(engine, toPrincipal(canisterId)),
    tick: () => engine.tick(),
    advanceTime: (nanoseconds) => {
      engine.stopTimers();
      clock.advance(nanoseconds);
    },
    setFaults: (faults) => {
      const node = network?.faultyNode;
      if (node === undefined) throw new Error('Start the replica with `faults: {}` to set faults.');
      node.setFaults(faults);
    },
    stop: () => {
      stopped ??= stop(core, server);
      return stopped;
    },
  };
}

function viewStableMemory(engine: JoinedEngine, canisterId: Principal): StableMemoryView {
  const canister = engine.canister(canisterId);
  if (canister === undefined) {
    throw new Error(`Cannot read stable memory: canister ${canisterId.toText()} does not exist`);
  }
  return {
    bytes: canister.stableBytes,
    read: (offset, length) => engine.readStable(canisterId, offset, length),
  };
}

/** Waits for running messages, but not long, because answered ones are already on disk. */
async function stop({ engine, store }: Core, server: LoopbackServer | undefined): Promise<void> {
  engine.stopTimers();
  await server?.close();
  let timeout: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timeout = setTimeout(resolve, stopMilliseconds);
  });
  await Promise.race([engine.idle(), patience]);
  clearTimeout(timeout);
  store.close();
}
