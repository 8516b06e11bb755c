// The local replica in this process.

import { Principal } from '@dfinity/principal';
import type { MethodName } from '../../../packages/replica/src/management/candid-types.ts';
import type { Replica } from '../../../packages/replica/src/replica.ts';
import { manage } from '../../replica/conformance/management-client.ts';
import { type Caller, identityOf, type NetworkInterface } from './network-interface.ts';

export function networkInProcess(replica: Replica, identityPem: string): NetworkInterface {
  const sender = principalOf(identityPem, 'owner');
  const on = (method: MethodName, canisterId: string, fields: object = {}) =>
    manage(replica, method, { canister_id: Principal.fromText(canisterId), sender, ...fields });
  const asCaller = (caller: Caller = 'nobody') => ({ sender: principalOf(identityPem, caller) });
  return {
    create: async (cycles) =>
      (await replica.createCanister({ controllers: [sender], cycles })).toText(),
    install: (canisterId, wasm, argument) =>
      replica.install(canisterId, wasm, argument, { sender }),
    upgrade: (canisterId, wasm) => replica.upgrade(canisterId, wasm, undefined, { sender }),
    call: (canisterId, method, argument, caller) =>
      replica.call(canisterId, method, argument, asCaller(caller)),
    query: (canisterId, method, argument, caller) =>
      replica.query(canisterId, method, argument, asCaller(caller)),
    gatewayAddress: (canisterId) => replica.url.replace('//', `//${canisterId}.`),
    async setTime(laterNs) {
      replica.advanceTime(laterNs);
      await runTimers(replica);
    },
    addCycles: (canisterId, amount) => on('provisional_top_up_canister', canisterId, { amount }),
    stop: (canisterId) => on('stop_canister', canisterId),
    start: (canisterId) => on('start_canister', canisterId),
  };
}

/** A timer may set another one that is due at once. */
async function runTimers(replica: Replica): Promise<void> {
  let last: unknown;
  do {
    last = replica.lastMessage();
    await replica.tick();
  } while (replica.lastMessage() !== last);
}

export function principalOf(identityPem: string, caller: Caller): Principal {
  const identity = identityOf(identityPem, caller);
  if (identity === undefined) return Principal.anonymous();
  return Principal.fromUint8Array(identity.getPrincipal().toUint8Array());
}
