// Large calls whose bytes are in a file: the request refers to the file and holds no copy of it.

import { Cbor, HttpAgent } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { expect, test } from 'vitest';
import { argumentStart } from '../../packages/client/src/actor/call-envelope.ts';
import { callWithBlob, type LargeCaller } from '../../packages/client/src/actor/large-call.ts';
import type { WatchedInit } from '../../packages/client/src/connection/watched-fetch.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { newIdentity } from '../../scripts/local-service.ts';
import { sampleBytes } from '../support/service.ts';

const blob = sampleBytes('film', 1_900_000);
const host = 'http://127.0.0.1:1';

/** Makes a call that is rejected. Returns its request, and the lent buffers when it was sent. */
async function sent(file: Blob | undefined) {
  let lent = 0;
  const requests: { readonly body: WatchedInit['body']; readonly lent: number }[] = [];
  const caller: LargeCaller = {
    agent: HttpAgent.createSync({ host, shouldFetchRootKey: false }),
    canisterId: 'rwlgt-iiaaa-aaaaa-aaaaa-cai',
    async fetch(_url, { body }) {
      requests.push({ body, lent });
      const answer = { status: 'non_replicated_rejection', reject_code: 4, reject_message: 'no' };
      return new Response(Cbor.encode(answer) as BodyInit);
    },
    buffers: {
      take(length) {
        lent += 1;
        return new Uint8Array(length);
      },
      giveBack(buffer) {
        lent -= 1;
        buffer.fill(0xaa);
      },
    },
    identity: identityFromPem(newIdentity()),
  };
  const start = argumentStart([IDL.Text, IDL.Nat], ['upload', 0n]);
  const call = { method: 'm', argumentStart: start, blob, file, resultType: IDL.Nat };
  await expect(callWithBlob(caller, call)).rejects.toThrow('no');
  expect(lent).toBe(0);
  const [request] = requests;
  if (request === undefined) throw new Error('Nothing was sent.');
  return request;
}

test('a call with bytes of a file sends a Blob, and keeps no buffer while it is sent', async () => {
  const { body, lent } = await sent(new Blob([blob.slice()]));
  if (!(body instanceof Blob)) throw new Error('The body is no Blob.');
  expect(lent).toBe(0);
  const bytes = new Uint8Array(await body.arrayBuffer());
  const { content } = Cbor.decode<{ readonly content: Record<string, unknown> }>(bytes);
  const types = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];
  const argument = IDL.encode(types, ['upload', 0n, blob]);
  expect(Buffer.compare(content.arg as Uint8Array, argument)).toBe(0);
});

test('a call without a file sends the buffer, and keeps it until the answer', async () => {
  const { body, lent } = await sent(undefined);
  expect(body).toBeInstanceOf(Uint8Array);
  expect(lent).toBe(1);
});
