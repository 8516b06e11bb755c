// Callers of the canister in a network with chosen keys and a clock that stands still.

import type { Principal } from '@dfinity/principal';
import { IDL } from '@icp-sdk/core/candid';
import { serviceInterface } from '../../packages/client/src/actor/candid-interface.ts';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { refusedInWords } from './inspection-words.ts';
import type { KeyNetwork } from './key-network.ts';
import { type Answer, type Person, personWho } from './people.ts';

const methods = new Map(serviceInterface()._fields);

export function personOn(network: KeyNetwork, principal: Principal): Person {
  return personWho(principal, async (method, values) => {
    const { argTypes, retTypes, annotations } = methods.get(method) as IDL.FuncClass;
    const calls = createInProcessCalls(network.engine);
    const send = annotations.includes('query') ? calls.query : calls.call;
    const argument = new Uint8Array(IDL.encode(argTypes, values));
    try {
      const reply = await send(network.canisterId(), method, argument, { sender: principal });
      return IDL.decode(retTypes, reply)[0] as Answer<unknown>;
    } catch (error) {
      const refused = refusedInWords(error);
      if (refused === undefined) throw error;
      return refused;
    }
  });
}
