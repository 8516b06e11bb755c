// A canister that gets requests as a gateway sends them: verifies the answers with the official
// verifier, and calls methods as its controller.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import {
  type CanisterAnswer,
  decodeAnswer,
  encodeQueryRequest,
} from '../../../packages/replica/src/gateway/candid-messages.ts';
import type { Replica } from '../../../packages/replica/src/replica.ts';
import type { TestNetwork } from '../network/test-network.ts';
import { type AskedRequest, type Verifying, verdictOn } from './verdict.ts';

export interface AskedCanister {
  /** Returns the answer of a query. */
  ask(request: AskedRequest): Promise<CanisterAnswer>;
  /** Fails unless the verifier accepts the answer. */
  accepted(request: AskedRequest): Promise<CanisterAnswer>;
  /** Calls a method as the controller; fails if it is refused. */
  call(method: string, types: IDL.Type[], values: unknown[]): Promise<void>;
  context(): Verifying;
}

const Outcome = IDL.Variant({ ok: IDL.Reserved, err: IDL.Text });

/** Returns a request with all fields. */
export function whole(request: AskedRequest) {
  const { method = 'GET', url, headers = [], body = new Uint8Array(0) } = request;
  return { method, url, headers, body };
}

type Send = (method: string, argument: Uint8Array) => Promise<Uint8Array>;

interface Asking {
  readonly canisterId: Principal;
  /** DER. */
  readonly rootKey: Uint8Array;
  readonly query: Send;
  /** Sends an update as the controller. */
  readonly call: Send;
}

export function askedCanister(
  replica: Replica,
  { canisterId, controller }: { readonly canisterId: Principal; readonly controller: Principal },
): AskedCanister {
  const { rootKey } = replica;
  return askedBy({
    ...{ canisterId, rootKey },
    query: (method, argument) => replica.query(canisterId, method, argument),
    call: (method, argument) => replica.call(canisterId, method, argument, { sender: controller }),
  });
}

/** The network's owner is the controller. */
export function askedOn({ network, rootKey }: TestNetwork, id: string): AskedCanister {
  return askedBy({
    ...{ canisterId: Principal.fromText(id), rootKey },
    query: (method, argument) => network.query(id, method, argument),
    call: (method, argument) => network.call(id, method, argument, 'owner'),
  });
}

function askedBy({ canisterId, rootKey, query, call }: Asking): AskedCanister {
  const context = () => ({ canisterId, rootKey, nowNs: BigInt(Date.now()) * 1_000_000n });
  async function ask(request: AskedRequest): Promise<CanisterAnswer> {
    const argument = encodeQueryRequest(whole(request));
    return decodeAnswer(await query('http_request', argument));
  }
  return {
    context,
    ask,
    async accepted(request) {
      const answer = await ask(request);
      if (answer.isUpgrade) throw new Error(`${request.url}: the answer asks for an update`);
      const { refusal } = verdictOn(request, answer, context());
      if (refusal !== undefined) throw new Error(`${request.method} ${request.url}: ${refusal}`);
      return answer;
    },
    async call(method, types, values) {
      const argument = new Uint8Array(IDL.encode(types, values));
      const reply = await call(method, argument);
      const [outcome] = IDL.decode([Outcome], reply) as unknown as [{ err?: string }];
      if (outcome.err !== undefined) throw new Error(`${method}: ${outcome.err}`);
    },
  };
}
