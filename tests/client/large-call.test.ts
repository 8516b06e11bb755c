// Large calls whose bytes are in a file: the request refers to the file and holds no copy of it.

import { Cbor, HttpAgent } from '@icp-sdk/core/agent';
import { IDL } from '@icp-sdk/core/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { argumentStart } from '../../packages/client/src/actor/call-envelope.ts';
import { methodTypes } from '../../packages/client/src/actor/candid-interface.ts';
import { callWithBlob, type LargeCaller } from '../../packages/client/src/actor/large-call.ts';
import { sessionRequestOf } from '../../packages/client/src/actor/upload-requests.ts';
import { createBufferPool } from '../../packages/client/src/bytes/buffer-pool.ts';
import type { WatchedInit } from '../../packages/client/src/connection/watched-fetch.ts';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { newIdentity } from '../../scripts/local-service.ts';
import { acceptAgain, acceptNone } from '../support/known-signatures.ts';
import { openService, type Service, sampleBytes } from '../support/service.ts';

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
    blsVerify: () => true,
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

test('callWithBlob() with bytes of a file sends a Blob, and keeps no buffer while it is sent', async () => {
  const { body, lent } = await sent(new Blob([blob.slice()]));
  if (!(body instanceof Blob)) throw new Error('The body is no Blob.');
  expect(lent).toBe(0);
  const bytes = new Uint8Array(await body.arrayBuffer());
  const { content } = Cbor.decode<{ readonly content: Record<string, unknown> }>(bytes);
  const types = [IDL.Text, IDL.Nat, IDL.Vec(IDL.Nat8)];
  const argument = IDL.encode(types, ['upload', 0n, blob]);
  expect(Buffer.compare(content.arg as Uint8Array, argument)).toBe(0);
});

test('callWithBlob() without a file sends the buffer, and keeps it until the answer', async () => {
  const { body, lent } = await sent(undefined);
  expect(body).toBeInstanceOf(Uint8Array);
  expect(lent).toBe(1);
});

describe('callWithBlob(): a reply of the network', () => {
  let service: Service;
  beforeAll(async () => {
    service = await openService();
    acceptNone();
  });
  afterAll(async () => {
    acceptAgain();
    await service?.stop();
  });

  test.each([
    ['is accepted without its signature if the caller does not rely on it', false, false],
    ['is accepted with its signature if the caller relies on it', true, true],
    ['is refused without its signature if the caller relies on it', true, false],
  ])('%s', async (_name, isRelied, isSigned) => {
    const { host, canisterId } = service;
    let verified = 0;
    const caller: LargeCaller = {
      agent: await HttpAgent.create({ host, shouldFetchRootKey: true }),
      canisterId,
      fetch: (url, init) => globalThis.fetch(url, init),
      buffers: createBufferPool(),
      identity: identityFromPem(newIdentity()),
      async blsVerify() {
        verified += 1;
        return isSigned;
      },
    };
    const method = 'uploadChunk';
    const { argTypes, result: resultType } = methodTypes(method);
    const file = { tags: [], headers: {}, metadata: {}, sha256: undefined };
    const request = sessionRequestOf(service, {
      ...{ ...file, bucket: service.bucket, path: 'small', contentType: 'a/b' },
      ...{ size: 5, chunkBytes: 65_536, token: `${isRelied} ${isSigned}`.replace(' ', '-') },
      ...{ ifMatch: undefined, ifNoneMatch: undefined },
    });
    const called = callWithBlob(caller, {
      method,
      argumentStart: argumentStart(argTypes.slice(0, 3), [request, 0n, []]),
      blob: sampleBytes('small', 5),
      resultType,
      reliesOn: () => isRelied,
    });
    const isRefused = isRelied && !isSigned;
    if (isRefused) await expect(called).rejects.toThrow();
    else expect(await called).toHaveProperty('ok');
    expect(verified > 0).toBe(isRelied);
  });
});
