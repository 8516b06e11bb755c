// Replaces the code of canisters: calls of the management canister, by a controller. IC interface
// specification, "The IC management canister".

import { Actor, CanisterStatus, type HttpAgent } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { Principal } from '@icp-sdk/core/principal';
import { encodeHex } from '../bytes/bytes.ts';
import type { RootKeySource } from '../types/service.ts';
import { rootKeyVariant } from './administration.ts';
import { type ActorConnection, openService } from './connection.ts';
import { versionSection } from './module-metadata.ts';
import { principalOf } from './volumes.ts';

/** The code of a canister, from a certificate of the network. */
export interface CertifiedCode {
  /** SHA-256 in hexadecimal; undefined without code. */
  readonly moduleHash: string | undefined;
  /** The version in the module's metadata; undefined up to version 0.2.0. */
  readonly version: string | undefined;
  readonly controllers: readonly string[];
}

export interface CanisterState {
  readonly status: 'running' | 'stopping' | 'stopped';
  readonly cycles: number;
  readonly cyclesPerDay: number;
  readonly memoryBytes: number;
  /** Cycles that the network has set aside for memory on a full subnet, and their limit. */
  readonly reservedCycles: number;
  readonly reservedCyclesLimit: number;
  /** The canister freezes if its cycles pay for a shorter time. */
  readonly freezingSeconds: number;
  /** Environment variables of the canister. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface InitialSettings {
  readonly role: 'volume' | 'front';
  /** The source of a volume's root key; by default the canister chooses. */
  readonly rootKey?: RootKeySource | undefined;
}

export interface LocalCanister {
  readonly cycles: number;
  /** Id of a subnet; by default the first one. */
  readonly subnet?: string | undefined;
}

/** Calls by which controllers manage canisters. Snapshots are named by their ids in hexadecimal. */
export interface CanisterCode {
  /** The principal that calls. */
  readonly caller: string;
  read(canisterId: string): Promise<CertifiedCode>;
  state(canisterId: string): Promise<CanisterState>;
  start(canisterId: string): Promise<void>;
  /**
   * Creates an empty canister on a local replica, the only kind of network that gives cycles away;
   * the caller controls it.
   */
  createLocally(options: LocalCanister): Promise<string>;
  /** Installs code into an empty canister; fails if it has code. */
  install(canisterId: string, module: Uint8Array, settings: InitialSettings): Promise<void>;
  /** Waits until the canister has ended its open calls. */
  stop(canisterId: string): Promise<void>;
  /** Upgrades with an empty argument, which keeps all settings. */
  upgrade(canisterId: string, module: Uint8Array): Promise<void>;
  takeSnapshot(canisterId: string): Promise<string>;
  hasSnapshot(canisterId: string, snapshot: string): Promise<boolean>;
  loadSnapshot(canisterId: string, snapshot: string): Promise<void>;
  deleteSnapshot(canisterId: string, snapshot: string): Promise<void>;
}

const blob = IDL.Vec(IDL.Nat8);
const canister = { canister_id: IDL.Principal };
const snapshot = IDL.Record({ ...canister, snapshot_id: blob });
const variable = IDL.Record({ name: IDL.Text, value: IDL.Text });

const managementInterface: IDL.InterfaceFactory = () =>
  IDL.Service({
    canister_status: IDL.Func(
      [IDL.Record(canister)],
      [
        IDL.Record({
          status: IDL.Variant({ running: IDL.Null, stopping: IDL.Null, stopped: IDL.Null }),
          cycles: IDL.Nat,
          idle_cycles_burned_per_day: IDL.Nat,
          memory_size: IDL.Nat,
          reserved_cycles: IDL.Nat,
          settings: IDL.Record({
            reserved_cycles_limit: IDL.Nat,
            freezing_threshold: IDL.Nat,
            environment_variables: IDL.Opt(IDL.Vec(variable)),
          }),
        }),
      ],
      [],
    ),
    provisional_create_canister_with_cycles: IDL.Func(
      [IDL.Record({ amount: IDL.Opt(IDL.Nat) })],
      [IDL.Record(canister)],
      [],
    ),
    start_canister: IDL.Func([IDL.Record(canister)], [], []),
    stop_canister: IDL.Func([IDL.Record(canister)], [], []),
    install_code: IDL.Func(
      [
        IDL.Record({
          ...canister,
          mode: IDL.Variant({ install: IDL.Null, reinstall: IDL.Null, upgrade: IDL.Null }),
          wasm_module: blob,
          arg: blob,
        }),
      ],
      [],
      [],
    ),
    take_canister_snapshot: IDL.Func(
      [IDL.Record({ ...canister, replace_snapshot: IDL.Opt(blob) })],
      [IDL.Record({ id: blob })],
      [],
    ),
    list_canister_snapshots: IDL.Func(
      [IDL.Record(canister)],
      [IDL.Vec(IDL.Record({ id: blob }))],
      [],
    ),
    load_canister_snapshot: IDL.Func([snapshot], [], []),
    delete_canister_snapshot: IDL.Func([snapshot], [], []),
  });

/** `DIDL` with no types and no values. */
const noArguments = Uint8Array.of(0x44, 0x49, 0x44, 0x4c, 0, 0);

const keyByProxy = IDL.Record({ keyName: IDL.Text, proxy: IDL.Opt(IDL.Principal) });
const initialSettings = IDL.Record({
  rootKey: IDL.Opt(IDL.Variant({ vetkd: IDL.Text, vetkdBy: keyByProxy, stored: IDL.Null })),
  role: IDL.Opt(IDL.Variant({ front: IDL.Null })),
});

/** A canister without a role is a volume. */
function initialArgument({ role, rootKey }: InitialSettings): Uint8Array {
  if (role === 'volume' && rootKey === undefined) return noArguments;
  const value = {
    rootKey: rootKey === undefined ? [] : [rootKeyVariant(rootKey)],
    role: role === 'front' ? [{ front: null }] : [],
  };
  return IDL.encode([IDL.Opt(initialSettings)], [[value]]);
}

/** `connection` is that of any canister; its identity is a controller. */
export async function openCanisterCode(connection: ActorConnection): Promise<CanisterCode> {
  const { agent } = await openService(connection);
  const actor = Actor.createActor(managementInterface, {
    agent,
    canisterId: Principal.managementCanister(),
    callTransform: (_method, [argument]) => ({
      effectiveCanisterId: (argument as { canister_id: Principal }).canister_id,
    }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the interface above says what each method returns
  const call = async (method: string, canisterId: string, fields: object = {}): Promise<any> =>
    actor[method]?.({ canister_id: principalOf(canisterId), ...fields });
  const withSnapshot = (hex: string) => ({ snapshot_id: Uint8Array.from(Buffer.from(hex, 'hex')) });
  return {
    caller: String(await agent.getPrincipal()),
    read: (canisterId) => readCode(agent, canisterId),
    async state(canisterId) {
      const shown = await call('canister_status', canisterId);
      const [status] = Object.keys(shown.status) as CanisterState['status'][];
      return {
        status: status ?? 'stopped',
        cycles: Number(shown.cycles),
        cyclesPerDay: Number(shown.idle_cycles_burned_per_day),
        memoryBytes: Number(shown.memory_size),
        reservedCycles: Number(shown.reserved_cycles),
        reservedCyclesLimit: Number(shown.settings.reserved_cycles_limit),
        freezingSeconds: Number(shown.settings.freezing_threshold),
        environment: environmentOf(shown.settings.environment_variables),
      };
    },
    start: (canisterId) => call('start_canister', canisterId),
    stop: (canisterId) => call('stop_canister', canisterId),
    async createLocally({ cycles, subnet }) {
      const target = subnet === undefined ? undefined : { subnetId: principalOf(subnet) };
      const create = Actor.createActor(managementInterface, {
        ...{ agent, canisterId: Principal.managementCanister() },
        ...(target && { effectiveTarget: target }),
      }).provisional_create_canister_with_cycles;
      const created = await create?.({ amount: [BigInt(cycles)] });
      return String((created as { canister_id: Principal }).canister_id);
    },
    install: (canisterId, module, settings) =>
      call('install_code', canisterId, {
        mode: { install: null },
        wasm_module: module,
        arg: initialArgument(settings),
      }),
    upgrade: (canisterId, module) =>
      call('install_code', canisterId, {
        mode: { upgrade: null },
        wasm_module: module,
        arg: noArguments,
      }),
    async takeSnapshot(canisterId) {
      const { id } = await call('take_canister_snapshot', canisterId, { replace_snapshot: [] });
      return encodeHex(Uint8Array.from(id));
    },
    async hasSnapshot(canisterId, hex) {
      const snapshots: { readonly id: Uint8Array }[] = await call(
        'list_canister_snapshots',
        canisterId,
      );
      return snapshots.some(({ id }) => encodeHex(Uint8Array.from(id)) === hex);
    },
    loadSnapshot: (canisterId, hex) =>
      call('load_canister_snapshot', canisterId, withSnapshot(hex)),
    deleteSnapshot: (canisterId, hex) =>
      call('delete_canister_snapshot', canisterId, withSnapshot(hex)),
  };
}

interface Variable {
  readonly name: string;
  readonly value: string;
}

/** Networks without environment variables leave the field out. */
function environmentOf([variables = []]: readonly (readonly Variable[])[]) {
  return Object.fromEntries(variables.map(({ name, value }) => [name, value]));
}

async function readCode(agent: HttpAgent, canisterId: string): Promise<CertifiedCode> {
  const version = {
    kind: 'metadata',
    key: 'version',
    path: versionSection,
    decodeStrategy: 'utf-8',
  } as const;
  const found = await CanisterStatus.request({
    agent,
    canisterId: principalOf(canisterId),
    paths: ['module_hash', 'controllers', version],
  });
  const controllers = found.get('controllers') as Principal[] | null;
  return {
    moduleHash: (found.get('module_hash') as string | null) ?? undefined,
    version: (found.get('version') as string | null) ?? undefined,
    controllers: (controllers ?? []).map(String),
  };
}
