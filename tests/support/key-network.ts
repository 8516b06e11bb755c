// The canister on an engine whose network offers chosen vetKD keys, with a clock that stands still:
// timers run only when a test advances it. Everything else is the local replica's.

import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import type { ManagementCall, MessageReport, StateStore } from '../../packages/replica/src/core.ts';
import { createEngine, type RunningEngine } from '../../packages/replica/src/execution/engine.ts';
import type { Limits } from '../../packages/replica/src/execution/limits.ts';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { createManagement } from '../../packages/replica/src/management/management.ts';
import { createSigningKeys } from '../../packages/replica/src/management/signing-keys.ts';
import { createVetKeys, type VetKeys } from '../../packages/replica/src/management/vetkd.ts';
import { createMemoryStore } from '../../packages/replica/src/persistence/memory-store.ts';
import type { SubnetType } from '../../packages/replica/src/subnet-type.ts';
import { buildCanister } from '../../scripts/build.ts';
import { uploadInterface } from './candid-interface.ts';
import { refusedInWords } from './inspection-words.ts';
import { createCopiedStore } from './store-copies.ts';

const nsPerSecond = 1_000_000_000n;
const noArguments = new Uint8Array(IDL.encode([], []));
const RootKey = IDL.Variant({ vetkd: IDL.Text, stored: IDL.Null });
const Settings = IDL.Record({ rootKey: IDL.Opt(RootKey) });
const Encryption = IDL.Record({
  rootKey: IDL.Text,
  keyName: IDL.Text,
  isKeyPresent: IDL.Bool,
  isRotating: IDL.Bool,
});
const Status = IDL.Variant({ ok: IDL.Record({ encryption: Encryption }), err: IDL.Text });
const { wasmPath } = await buildCanister({ force: false });
const wasm = new Uint8Array(await readFile(wasmPath));
const methods = new Map(uploadInterface(IDL)._fields);
/** The principal that installed the canister, its controller. */
export const owner = Principal.selfAuthenticating(new Uint8Array(44).fill(5));

export interface EncryptionStatus {
  readonly rootKey: string;
  readonly keyName: string;
  readonly isKeyPresent: boolean;
  readonly isRotating: boolean;
}

export type RootKeyArgument = { vetkd: string } | { stored: null };

/** Returns `(opt record { rootKey })` as bytes. */
export function settings(rootKey: RootKeyArgument | undefined): Uint8Array {
  const value = { rootKey: rootKey === undefined ? [] : [rootKey] };
  return new Uint8Array(IDL.encode([IDL.Opt(Settings)], [[value]]));
}

export interface NetworkOptions {
  readonly limits?: Partial<Limits>;
  readonly subnetType?: SubnetType;
  /** An empty store, or a copy of another network's. */
  readonly store?: StateStore;
  /** Returns 32 bytes for `raw_rand`; secret ones by default. */
  readonly random?: () => Uint8Array;
}

export class KeyNetwork {
  /** Names of the vetKD keys that the network has. */
  keyNames: readonly string[] = ['key_1', 'test_key_1', 'dfx_test_key'];
  /** The fee for a derivation, in place of the network's price. */
  fee: bigint | undefined;
  vetKeys: VetKeys = createVetKeys(new Uint8Array(32).fill(7));
  nowNs = 1_800_000_000n * nsPerSecond;
  /** Reports of all messages since the list was last emptied. */
  readonly reports: MessageReport[] = [];
  readonly prints: string[] = [];
  /** All results of `raw_rand`. */
  readonly seeds: Uint8Array[] = [];
  /** Called after each message ran, before its outcome is stored. */
  onMessage: (() => void) | undefined;
  /** Holds calls to the management canister up, while the promise that it returns is pending. */
  holdCall: ((call: ManagementCall) => Promise<void> | undefined) | undefined;
  /** While true, commits fail. */
  isDiskFull = false;
  readonly engine: RunningEngine;
  #installed: Principal | undefined;

  constructor(options: NetworkOptions = {}) {
    const { limits = {}, store = createMemoryStore(), subnetType = 'application' } = options;
    const signingKeys = createSigningKeys(new Uint8Array(32));
    const vetKeys: VetKeys = {
      keyNames: this.keyNames,
      fee: (name) =>
        this.keyNames.includes(name) ? (this.fee ?? this.vetKeys.fee(name)) : undefined,
      masterPublicKey: (name) => this.vetKeys.masterPublicKey(name),
      publicKey: (path) => this.vetKeys.publicKey(path),
      encryptedKey: (request) => this.vetKeys.encryptedKey(request),
    };
    const random = () => {
      const seed = options.random?.() ?? new Uint8Array(randomBytes(32));
      this.seeds.push(seed);
      return seed;
    };
    this.engine = createEngine({
      store: {
        ...store,
        commit: (change) => {
          if (this.isDiskFull) throw new Error('ENOSPC: no space left on device');
          store.commit(change);
        },
      },
      limits,
      subnetType,
      now: () => this.nowNs,
      dataCertificate: () => new Uint8Array(0),
      rootKey: () => new Uint8Array(133),
      management: (lifecycle) => {
        const settings = { random, vetKeys, signingKeys, subnetType };
        const management = createManagement(lifecycle, settings);
        return {
          ...management,
          execute: async (call) => {
            await this.holdCall?.(call);
            return management.execute(call);
          },
        };
      },
      onReport: (report) => {
        this.reports.push(report);
        this.onMessage?.();
      },
      onPrint: (_, text) => this.prints.push(text),
    });
  }

  async install(argument: Uint8Array = noArguments, cycles?: bigint): Promise<void> {
    const calls = createInProcessCalls(this.engine);
    const options = { controllers: [owner], ...(cycles === undefined ? {} : { cycles }) };
    this.#installed = await calls.createCanister(options);
    await calls.install(this.#installed, wasm, argument, { sender: owner });
  }

  /** Starts the one canister in the store, as after a restart of the network. */
  async resume(): Promise<void> {
    const [failure] = await this.engine.resume();
    if (failure !== undefined) throw new Error(failure.reason);
    const [canister] = this.engine.canisters();
    this.#installed = canister?.id;
  }

  upgrade(argument: Uint8Array = noArguments): Promise<void> {
    const calls = createInProcessCalls(this.engine);
    return calls.upgrade(this.canisterId(), wasm, argument, { sender: owner });
  }

  /** Advances the clock and runs due timers with all resulting messages. */
  async wait(seconds: number): Promise<void> {
    this.nowNs += BigInt(seconds) * nsPerSecond;
    await this.engine.tick();
    await this.engine.idle();
  }

  /** Calls a method of the tests' interface; returns its result: `{ ok }` or `{ err }`. */
  async call(method: string, ...values: unknown[]): Promise<{ ok?: unknown; err?: string }> {
    const signature = methods.get(method) as IDL.FuncClass;
    const argument = new Uint8Array(IDL.encode(signature.argTypes, values));
    const calls = createInProcessCalls(this.engine);
    const send = signature.annotations.includes('query') ? calls.query : calls.call;
    try {
      const reply = await send(this.canisterId(), method, argument, { sender: owner });
      const [result] = IDL.decode(signature.retTypes, reply);
      return result as { ok?: unknown; err?: string };
    } catch (error) {
      const refused = refusedInWords(error);
      if (refused === undefined) throw error;
      return refused;
    }
  }

  /** Calls as the owner a method outside the tests' interface; fails if the call is refused. */
  async send(method: string, types: IDL.Type[], values: unknown[]): Promise<void> {
    const calls = createInProcessCalls(this.engine);
    const argument = new Uint8Array(IDL.encode(types, values));
    const reply = await calls.call(this.canisterId(), method, argument, { sender: owner });
    const [result] = IDL.decode([IDL.Variant({ ok: IDL.Reserved, err: IDL.Text })], reply);
    const { err } = result as { err?: string };
    if (err !== undefined) throw new Error(err);
  }

  async status(): Promise<EncryptionStatus> {
    const reply = await createInProcessCalls(this.engine).query(this.canisterId(), 'getStatus');
    const [result] = IDL.decode([Status], reply);
    return (result as unknown as { ok: { encryption: EncryptionStatus } }).ok.encryption;
  }

  /** Returns the canister's whole stable memory. */
  stableMemory(): Buffer {
    const id = this.canisterId();
    return Buffer.from(this.engine.readStable(id, 0, this.engine.canister(id)?.stableBytes ?? 0));
  }

  /** Returns the reports of messages that processed answers to that management method. */
  answersTo(method: string): MessageReport[] {
    return this.reports.filter((report) => report.method === method);
  }

  canisterId(): Principal {
    if (this.#installed === undefined) throw new Error('Nothing is installed');
    return this.#installed;
  }
}

interface FirstKey {
  readonly copyStore: () => StateStore;
  readonly reports: readonly MessageReport[];
}

let firstKey: Promise<FirstKey> | undefined;

async function fetchFirstKey(): Promise<FirstKey> {
  const { store, copy } = createCopiedStore();
  const network = new KeyNetwork({ store });
  await network.install();
  const Options = IDL.Opt(IDL.Record({ isPublic: IDL.Opt(IDL.Bool) }));
  await network.send('createBucket', [IDL.Text, Options], ['photos', [{ isPublic: [true] }]]);
  await network.wait(0);
  return { copyStore: copy, reports: network.reports };
}

/**
 * Returns a running canister with a root key from vetKD and the bucket `photos`. A process fetches
 * the key once for all tests, because that takes seconds; each test has its own network and state.
 * The reports are empty.
 */
export async function networkWithKey(): Promise<KeyNetwork> {
  firstKey ??= fetchFirstKey();
  const { copyStore } = await firstKey;
  const network = new KeyNetwork({ store: copyStore() });
  await network.resume();
  await network.wait(0);
  network.reports.length = 0;
  return network;
}

/** Returns the reports of all messages from installation until the first root key existed. */
export async function reportsOfFirstKey(): Promise<readonly MessageReport[]> {
  firstKey ??= fetchFirstKey();
  return (await firstKey).reports;
}
