// Calls from another canister, which bypass inspection: forwarder.wat passes any bytes to a method.

import { join } from 'node:path';
import { Principal } from '@dfinity/principal';
import type { Replica } from '../../../packages/replica/src/replica.ts';
import { assembledModule } from '../gateway-canister/assembled-module.ts';
import type { NetworkInterface } from '../network/network-interface.ts';

export interface Forwarder {
  readonly id: Principal;
  /** Returns the reply of the method; throws its reject. */
  call(canisterId: string, method: string, argument: Uint8Array): Promise<Uint8Array>;
  /** The same canister after a restart. */
  on(restarted: Replica): Forwarder;
}

const cycles = 10n ** 13n;
const forwarderModule = () => assembledModule(join(import.meta.dirname, 'forwarder.wat'));

export async function installForwarder(replica: Replica): Promise<Forwarder> {
  const id = await replica.createCanister();
  await replica.install(id, await forwarderModule());
  return forwarderOn(replica, id);
}

export async function installForwarderAt(network: NetworkInterface): Promise<Forwarder> {
  const id = await network.create(cycles);
  await network.install(id, await forwarderModule());
  return forwarderBy(network.call, Principal.fromText(id));
}

function forwarderOn(replica: Replica, id: Principal): Forwarder {
  return forwarderBy(
    (canisterId, method, argument) => replica.call(canisterId, method, argument),
    id,
  );
}

function forwarderBy(send: NetworkInterface['call'], id: Principal): Forwarder {
  return {
    id,
    on: (restarted) => forwarderOn(restarted, id),
    async call(canisterId, method, argument) {
      const target = Principal.fromText(canisterId).toUint8Array();
      const name = Buffer.from(method);
      const heads = [Buffer.of(target.length), target, Buffer.of(name.length), name];
      const message = new Uint8Array(Buffer.concat([...heads, argument]));
      const answer = await send(id.toText(), 'forward', message);
      if (answer[0] === 0) return answer.slice(1);
      throw new Error(Buffer.from(answer.subarray(1)).toString());
    },
  };
}
