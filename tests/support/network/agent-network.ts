// A network elsewhere, driven by the official agent: a replica of this repository, PocketIC or dfx.
// Only the clock is not part of the agent's interface: `instances.ts` sets it.

import { Principal } from '@dfinity/principal';
import { HttpAgent } from '@icp-sdk/core/agent';
import type { MethodName } from '../../../packages/replica/src/management/candid-types.ts';
import { argumentOf, resultOf } from '../../replica/conformance/management-client.ts';
import {
  type Caller,
  identityOf,
  type NetworkInterface,
  noArguments,
} from './network-interface.ts';

const managementId = 'aaaaa-aa';

export interface NetworkElsewhere {
  /** URL of the agent endpoints and of the gateway, which is on this machine. */
  readonly host: string;
  readonly identityPem: string;
  /** Absent where nothing sets the clock. */
  readonly setTime: ((laterNs: bigint) => Promise<void>) | undefined;
}

export function networkByAgent(elsewhere: NetworkElsewhere): NetworkInterface {
  const { host } = elsewhere;
  const { call, query, forgetTime } = openCalls(elsewhere);

  async function manage(method: MethodName, value: object, effectiveId: string) {
    const argument = argumentOf(method, value);
    return resultOf(method, await call(managementId, method, argument, 'owner', effectiveId));
  }
  const on = (method: MethodName, canisterId: string, fields: object = {}) =>
    manage(method, { canister_id: Principal.fromText(canisterId), ...fields }, canisterId);
  return {
    async create(cycles) {
      const method = 'provisional_create_canister_with_cycles';
      const created = await manage(method, { amount: cycles }, await placeForNew(host));
      return String(created.canister_id);
    },
    install: (canisterId, wasm, arg = noArguments) =>
      on('install_code', canisterId, { mode: { install: null }, wasm_module: wasm, arg }),
    upgrade: (canisterId, wasm) =>
      on('install_code', canisterId, {
        ...{ mode: { upgrade: [] }, wasm_module: wasm, arg: noArguments },
      }),
    call: (canisterId, method, argument, caller) => call(canisterId, method, argument, caller),
    query,
    gatewayAddress: (canisterId) => host.replace('//localhost', `//${canisterId}.localhost`),
    async setTime(laterNs) {
      if (elsewhere.setTime === undefined) {
        throw new Error('The clock of this network cannot be set; use PocketIC or `--replica`.');
      }
      await elsewhere.setTime(laterNs);
      forgetTime();
    },
    addCycles: (canisterId, amount) => on('provisional_top_up_canister', canisterId, { amount }),
    stop: (canisterId) => on('stop_canister', canisterId),
    start: (canisterId) => on('start_canister', canisterId),
  };
}

function openCalls({ host, identityPem }: NetworkElsewhere) {
  const agents = new Map<Caller, Promise<HttpAgent>>();
  let shouldSyncTime = false;

  function agentOf(caller: Caller): Promise<HttpAgent> {
    const identity = identityOf(identityPem, caller);
    const options = { host, shouldFetchRootKey: true, shouldSyncTime };
    const agent =
      agents.get(caller) ?? HttpAgent.create({ ...options, ...(identity && { identity }) });
    agents.set(caller, agent);
    return agent;
  }

  return {
    async call(
      canisterId: string,
      methodName: string,
      arg: Uint8Array,
      caller: Caller = 'nobody',
      effectiveCanisterId = canisterId,
    ) {
      const agent = await agentOf(caller);
      return (await agent.update(canisterId, { methodName, arg, effectiveCanisterId })).reply;
    },
    async query(
      canisterId: string,
      methodName: string,
      arg: Uint8Array,
      caller: Caller = 'nobody',
    ) {
      const answer = await (await agentOf(caller)).query(canisterId, { methodName, arg });
      if (answer.status === 'replied') return answer.reply.arg;
      throw new Error(answer.reject_message);
    },
    /** Makes new agents, which ask for the network's time. */
    forgetTime() {
      agents.clear();
      shouldSyncTime = true;
    },
  };
}

/**
 * Returns an id of a subnet for applications, where new canisters belong. PocketIC would choose any
 * subnet, as that of the NNS, for the id of the management canister.
 */
async function placeForNew(host: string): Promise<string> {
  const response = await fetch(`${host}/_/topology`);
  if (!response.ok) return managementId;
  const { default_effective_canister_id: place } = (await response.json()) as {
    default_effective_canister_id: { canister_id: string };
  };
  const bytes = Buffer.from(place.canister_id, 'base64');
  return Principal.fromUint8Array(new Uint8Array(bytes)).toText();
}
