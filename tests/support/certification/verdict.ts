// Asks the official verifier about an answer, and signs certificates for roots that tests choose.

import { Principal } from '@dfinity/principal';
import {
  type VerifiableAnswer,
  verifyAnswer,
} from '../../../packages/replica/src/gateway/verify-answer.ts';
import {
  fromEntries,
  labeled,
  leaf,
  toArrays,
} from '../../../packages/replica/src/state/hash-tree.ts';
import { encodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';
import { createSubnetKey } from '../../../packages/replica/src/state/subnet-key.ts';

export type Field = readonly [name: string, value: string];

export interface AskedRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: readonly Field[];
  readonly body?: Uint8Array;
}

export interface Verifying {
  readonly canisterId: Principal;
  /** DER. */
  readonly rootKey: Uint8Array;
  readonly nowNs: bigint;
}

/** Returns the headers that a gateway passes on, or the reason why it refuses the answer. */
export function verdictOn(
  request: AskedRequest,
  answer: VerifiableAnswer,
  context: Verifying,
): { readonly headers?: readonly Field[]; readonly refusal?: string } {
  const { method = 'GET', url, headers = [], body = new Uint8Array(0) } = request;
  try {
    return {
      headers: verifyAnswer({ request: { method, url, headers, body }, answer, ...context }),
    };
  } catch (error) {
    return { refusal: String(error) };
  }
}

const key = createSubnetKey(new Uint8Array(32).fill(7));
const timeNs = 1_800_000_000_000_000_000n;

/** The canister and root key against which certificates of certificateFor() verify. */
export const testContext: Verifying = {
  canisterId: Principal.fromText('rrkah-fqaaa-aaaaa-aaaaq-cai'),
  rootKey: key.publicKey,
  nowNs: timeNs,
};

/** Returns a certificate as the network signs it for a canister with this certified data. */
export function certificateFor(root: Uint8Array): Uint8Array {
  const bytes: number[] = [];
  for (let rest = timeNs; rest > 0n; rest >>= 7n) {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
  }
  const canister = labeled(
    testContext.canisterId.toUint8Array(),
    labeled('certified_data', leaf(root)),
  );
  const tree = fromEntries([
    ['canister', canister],
    ['time', leaf(Uint8Array.from(bytes))],
  ]);
  return encodeSelfDescribed({ tree: toArrays(tree), signature: key.signStateRoot(tree.hash) });
}
