// A service of a front and several volumes on one replica, whose clock and timers the test drives.

import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import {
  type Replica,
  type ReplicaOptions,
  startReplica,
} from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { FrontSetting, ResultVolumes } from '../../src/actor/candid/service.ts';
import { BucketOptions, ResultBucket } from '../../src/actor/candid/types.ts';
import { manage } from '../replica/conformance/management-client.ts';
import { type AskedCanister, askedCanister } from './certification/asked-canister.ts';
import { roleArgument } from './certification/opened-front.ts';

const nsPerSecond = 1_000_000_000n;

export interface Outcome<T> {
  readonly ok?: T;
  readonly err?: string;
}

interface Placement {
  readonly cycles?: bigint;
  readonly subnet?: Principal | undefined;
}

interface ShownBucket {
  readonly id: string;
  readonly owner: Principal;
  readonly createdAt: bigint;
}

interface ShownVolume {
  readonly canisterId: Principal;
  readonly state: string;
  readonly buckets: bigint;
}

export class ServiceOfVolumes {
  readonly controllerPem = newIdentity();
  readonly controller = principalOf(this.controllerPem);
  readonly volumes: Principal[] = [];
  replica!: Replica;
  wasm!: Uint8Array;
  frontId!: Principal;
  front!: AskedCanister;
  #nowNs = BigInt(Date.now()) * 1_000_000n;

  /** `isOnline`: with a server, and with the time and the timers of the machine. */
  async start(
    volumeCount: number,
    { isOnline = false, ...options }: ReplicaOptions & { readonly isOnline?: boolean } = {},
  ): Promise<this> {
    const { wasmPath } = await buildCanister({ force: false });
    this.wasm = new Uint8Array(await readFile(wasmPath));
    const offline = isOnline ? {} : { server: false, now: () => this.#nowNs };
    this.replica = await startReplica({ ...offline, ...options });
    this.frontId = await this.install({ front: null });
    this.front = this.asked(this.frontId);
    const { subnets } = this.replica;
    for (let number = 0; number < volumeCount; number++) {
      await this.addVolume({ subnet: subnets[number % subnets.length] });
    }
    return this;
  }

  /** Installs another canister of the service. */
  async install(
    role: object,
    { cycles = 1_000_000_000_000_000n, subnet }: Placement = {},
  ): Promise<Principal> {
    const controllers = [this.controller];
    const options = { controllers, cycles, ...(subnet && { subnet }) };
    const id = await this.replica.createCanister(options);
    await this.replica.install(id, this.wasm, roleArgument(role));
    return id;
  }

  asked(canisterId: Principal): AskedCanister {
    return askedCanister(this.replica, { canisterId, controller: this.controller });
  }

  async addVolume(placement: Placement = {}): Promise<Principal> {
    const id = await this.install({ volume: { front: [this.frontId] } }, placement);
    await this.front.call('addVolume', [IDL.Principal], [id]);
    this.volumes.push(id);
    await this.wait(6);
    return id;
  }

  /** Advances the clock and runs the timers that are due. */
  async wait(seconds: number): Promise<void> {
    this.#nowNs += BigInt(seconds) * nsPerSecond;
    await this.replica.tick();
  }

  upgrade(id: Principal): Promise<void> {
    return this.replica.upgrade(id, this.wasm, undefined, { sender: this.controller });
  }

  async create(
    bucket: string,
    { at = this.frontId, sender = this.controller, options = {} } = {},
  ): Promise<Outcome<ShownBucket>> {
    const types = [IDL.Text, IDL.Opt(BucketOptions)];
    const absent = Object.fromEntries(BucketOptions._fields.map(([name]) => [name, []]));
    const argument = IDL.encode(types, [bucket, [{ ...absent, ...options }]]);
    const reply = await this.replica.call(at, 'createBucket', argument, { sender });
    return IDL.decode([ResultBucket], reply)[0] as Outcome<ShownBucket>;
  }

  /** Creates a bucket at that volume, as before it had a front. */
  async createAt(
    volume: Principal,
    bucket: string,
    options: { readonly sender?: Principal; readonly options?: object } = {},
  ): Promise<Outcome<ShownBucket>> {
    await this.setFront(volume, false);
    const outcome = await this.create(bucket, { ...options, at: volume });
    await this.setFront(volume);
    return outcome;
  }

  /** Makes the canister a volume of the front, or of none. */
  setFront(volume: Principal, isJoined = true): Promise<void> {
    const setting = isJoined ? [{ front: this.frontId, url: [] }] : [];
    return this.asked(volume).call('setFront', [IDL.Opt(FrontSetting)], [setting]);
  }

  /** Freezes a canister, which then answers nothing, or ends that. Clients repeat no such call. */
  async setFrozen(canisterId: Principal, isFrozen: boolean): Promise<void> {
    const settings = { freezing_threshold: isFrozen ? 2n ** 50n : 2_592_000n };
    const sender = this.controller;
    await manage(this.replica, 'update_settings', { canister_id: canisterId, settings, sender });
  }

  async remove(bucket: string, at: Principal, sender = this.controller): Promise<void> {
    const argument = IDL.encode([IDL.Text, IDL.Opt(IDL.Null)], [bucket, []]);
    await this.replica.call(at, 'deleteBucket', argument, { sender });
  }

  async listed(): Promise<readonly ShownVolume[]> {
    const argument = IDL.encode([], []);
    const reply = await this.replica.query(this.frontId, 'listVolumes', argument);
    const [outcome] = IDL.decode([ResultVolumes], reply) as unknown as [
      { readonly ok: readonly ShownVolume[] },
    ];
    return outcome.ok;
  }

  /** Returns the volumes that have the bucket, by their numbers. */
  async placesOf(bucket: string, owner = this.controller): Promise<number[]> {
    const argument = IDL.encode([IDL.Text, IDL.Opt(IDL.Text)], [bucket, []]);
    const replies = await Promise.all(
      this.volumes.map((id) => this.replica.query(id, 'getBucket', argument, { sender: owner })),
    );
    const found = replies.map((reply) => IDL.decode([ResultBucket], reply)[0] as Outcome<unknown>);
    return found.flatMap((outcome, number) => ('ok' in outcome ? [number] : []));
  }

  stop(): Promise<void> {
    return this.replica.stop();
  }
}
