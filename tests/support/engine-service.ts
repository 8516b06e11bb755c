// A volume on a cloud engine, with a proxy canister on the rest of the network unless a test wants
// none. The test drives the clock and the timers.

import { readFile } from 'node:fs/promises';
import type { Principal } from '@dfinity/principal';
import {
  type Replica,
  type ReplicaOptions,
  startReplica,
} from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { networkInProcess } from './network/replica-network.ts';
import { type Person, personOf } from './people.ts';
import { installProxy, nameProxy } from './proxy-canister/install-proxy.ts';

const nsPerSecond = 1_000_000_000n;

interface Wish {
  /** Cycles of the proxy; 0 for no proxy. */
  readonly proxyCycles?: bigint;
  /** The argument of the installation. */
  readonly argument?: Uint8Array;
  readonly limits?: ReplicaOptions['limits'];
}

export interface EncryptionStatus {
  readonly rootKey: string;
  readonly keyName: string;
  readonly isKeyPresent: boolean;
  readonly isRotating: boolean;
  readonly proxy: readonly [] | readonly [Principal];
}

export class EngineService {
  readonly #identityPem = newIdentity();
  readonly sender = principalOf(this.#identityPem);
  readonly prints: string[] = [];
  replica!: Replica;
  canisterId!: Principal;
  /** The proxy of the installation; undefined without one. */
  proxy: Principal | undefined;
  owner!: Person;
  #wasm!: Uint8Array;
  #nowNs = 1_800_000_000n * nsPerSecond;

  async start({ proxyCycles = 10n ** 15n, argument, limits = {} }: Wish = {}): Promise<this> {
    this.#wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
    this.replica = await startReplica({
      subnetType: 'cloud-engine',
      server: false,
      limits,
      now: () => this.#nowNs,
      onPrint: (_, text) => this.prints.push(text),
    });
    const { replica, sender } = this;
    const canisterId = await replica.createCanister({ controllers: [sender] });
    if (proxyCycles > 0n) {
      this.proxy = await installProxy(replica, { cycles: proxyCycles });
      await nameProxy(replica, { canisterId, proxy: this.proxy, sender });
    }
    await replica.install(canisterId, this.#wasm, argument, { sender });
    this.canisterId = canisterId;
    const identityPem = this.#identityPem;
    const network = networkInProcess(replica, identityPem);
    const reached = { network, canisterId: canisterId.toText(), identityPem };
    this.owner = personOf(reached, 'owner');
    await this.wait(0);
    return this;
  }

  /** Advances the clock and runs the timers that are due. */
  async wait(seconds: number): Promise<void> {
    this.#nowNs += BigInt(seconds) * nsPerSecond;
    await this.replica.tick();
  }

  async upgrade(argument?: Uint8Array): Promise<void> {
    await this.replica.upgrade(this.canisterId, this.#wasm, argument, { sender: this.sender });
    await this.wait(0);
  }

  /** Runs the timers of a rotation until it is done. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 20 && (await this.encryption()).isRotating; turn++)
      await this.wait(1);
  }

  async encryption(): Promise<EncryptionStatus> {
    return (await this.owner.get<{ encryption: EncryptionStatus }>('getStatus')).encryption;
  }

  /** Returns the cycles of the service's canister. */
  cycles(): bigint | undefined {
    const own = this.replica.canisters().find(({ id }) => id.compareTo(this.canisterId) === 'eq');
    return own?.cycles;
  }

  async store(path: string, bytes: Uint8Array): Promise<void> {
    const none = { tags: [], sha256: [], ifMatch: [], ifNoneMatch: [], apiKey: [], headers: [] };
    const file = { bucketId: 'photos', path, contentType: 'image/png', bytes, metadata: [] };
    await this.owner.get('uploadFile', { ...file, ...none });
  }

  read(path: string, length: number): Promise<Uint8Array> {
    return this.owner.get('readFile', 'photos', path, 0n, BigInt(length), []);
  }
}
