// A canister that signs for a user adds information about the user; it passes from the request to
// the callee.

import { Principal } from '@dfinity/principal';
import { describe, expect, it } from 'vitest';
import { authenticate } from '../../../packages/replica/src/agent/authenticate.ts';
import { decodeCall } from '../../../packages/replica/src/agent/envelope.ts';
import { signedBlob, signedBytes } from '../../../packages/replica/src/agent/request-id.ts';
import type { CallMessage } from '../../../packages/replica/src/core.ts';
import { createCertification } from '../../../packages/replica/src/state/certification.ts';
import {
  anybody,
  bytesOf,
  startTestReplica,
  textOf,
} from '../../support/wasm-canisters/test-replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';
import { canisterKey, canisterSignature, signatureTree } from '../agent/canister-key.ts';
import { canisterId, createPlainEngine } from '../agent/plain-engine.ts';
import { callContent, createKey, signedBody, type TestKey } from '../agent/signed-request.ts';

const engine = createPlainEngine();
const certification = createCertification({ rootSecret: undefined, engine: () => engine });
const seed = bytesOf('anchor 10000');

/** Signs as a canister does, by certifying. */
function signByCanister(message: Uint8Array): Uint8Array {
  const tree = signatureTree(seed, message);
  engine.certifiedData = tree.hash;
  return canisterSignature(tree, certification.dataCertificate(canisterId));
}

const session = createKey('ed25519');
const der = canisterKey(canisterId, seed);
const expiration = BigInt(Date.now() + 600_000) * 1_000_000n;
const delegation = { pubkey: session.der, expiration };
const signature = signByCanister(
  signedBytes('ic-request-auth-delegation', new Map(Object.entries(delegation))),
);
const sender = Principal.selfAuthenticating(der);
const user = { key: session.key, der, sender } satisfies TestKey;

const info = bytesOf('a verified address');
const signer = canisterId.toUint8Array();
const sig = signByCanister(signedBlob('ic-sender-info', info));

function check(senderInfo: Readonly<Record<string, Uint8Array>>, signers: object): unknown {
  const content = callContent({
    sender: undefined,
    sender_info: new Map(Object.entries(senderInfo)),
  });
  const body = signedBody(content, signers as Parameters<typeof signedBody>[1]);
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const rootKey = certification.rootKey();
  return authenticate(decodeCall(body, 'call'), { requestType: 'call', nowNs, rootKey });
}

describe('Interface specification, "Envelope Authentication": `sender_info`', () => {
  const byCanister = { key: session, owner: user, delegations: [{ delegation, signature }] };

  it("must be signed by the canister that is the user's key", () => {
    expect(check({ info, signer, sig }, byCanister)).toBeUndefined();
  });

  it.each([
    ['other information', { info: bytesOf('another'), signer, sig }, /not signed by its signer/],
    ['another signer', { info, signer: bytesOf('another'), sig }, /is not the canister of/],
    ['no signature', { info, signer }, /"sig"/],
  ])('is refused with %s', (_what, senderInfo, why) => {
    expect(() => check(senderInfo, byCanister)).toThrow(why);
  });

  it('is refused from users with keys of other kinds', () => {
    expect(() => check({ info, signer, sig }, { key: session })).toThrow(/allowed only for users/);
  });
});

describe('Interface specification, "Request: Call": `sender_info` in the canister', () => {
  const reply = (name: string) =>
    `(call $${name}_copy (i32.const 0) (i32.const 0) (call $${name}_size))
    (call $msg_reply_data_append (i32.const 0) (call $${name}_size))`;
  const body = `${reply('msg_caller_info_data')} ${reply('msg_caller_info_signer')}`;
  const names = ['msg_caller_info_data', 'msg_caller_info_signer'];
  const module = canister(
    names.flatMap((name) => [`${name}_size`, `${name}_copy`]),
    `(func (export "canister_update update") ${body} (call $msg_reply))
    (func (export "canister_query query") ${body} (call $msg_reply))`,
  );

  it.each(['update', 'query'] as const)(
    'can be read by the %s, and is empty without it',
    async (way) => {
      const replica = startTestReplica();
      const id = await replica.install(module);
      const message: CallMessage = { sender: anybody, canisterId: id, method: way, arg: info };
      const senderInfo = { info, signer: bytesOf(' by the signer') };
      expect(textOf(await replica.engine[way]({ ...message, senderInfo }))).toBe(
        'a verified address by the signer',
      );
      expect(textOf(await replica.engine[way](message))).toBe('');
    },
  );
});
