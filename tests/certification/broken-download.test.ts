// A large download through the gateway from a node that forges one of its parts: the download
// breaks off, and no byte of that part arrives.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createGateway } from '../../packages/replica/src/gateway/gateway.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { onlyOnOurReplica } from '../support/network/elsewhere.ts';
import { ownReplica } from '../support/network/test-network.ts';
import { sampleBytes } from '../support/service.ts';

const partBytes = 100_000;
const parts = Array.from({ length: 5 }, (_, index) => sampleBytes(`part ${index}`, partBytes));

let canister: CertifiedCanister;
let url: string;
let close: (() => Promise<void>) | undefined;
/** Replaces the reply of a query, if set. */
let lie: ((reply: Uint8Array, query: number) => Uint8Array) | undefined;

beforeAll(async () => {
  canister = await openCertifiedCanister();
  await canister.putParts('large.bin', parts);
  await canister.putParts('other.bin', parts.toReversed());
});

afterAll(() => canister.stop());

beforeEach(onlyOnOurReplica('its gateway'));

beforeEach(async () => {
  let queries = 0;
  const replica = ownReplica(canister);
  const { canisterId } = canister;
  const view = replica.canisters()[0] ?? expect.fail('no canister');
  const gateway = createGateway({
    rootKey: replica.rootKey,
    servesHttp: () => true,
    plainCanister: () => undefined,
    engine: {
      now: () => BigInt(Date.now()) * 1_000_000n,
      canister: () => view,
      canisters: () => [view],
      checkIngress: async () => undefined,
      update: () => expect.fail('the gateway sends no update'),
      query: async ({ method, arg }) => {
        const reply = await replica.query(canisterId, method, arg);
        const told = lie?.(new Uint8Array(reply), queries++) ?? reply;
        return { status: 'replied', arg: told };
      },
    },
  });
  const server = createServer((request, response) => gateway.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => new Promise((resolve) => server.close(() => resolve()));
});

afterEach(() => close?.());

/** Returns the bytes that arrived until the end, or until the connection broke. */
async function download(): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const { canisterId } = canister;
  const response = await fetch(`${url}/cloud/demo/large.bin?canisterId=${canisterId}`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-length')).toBe(String(parts.length * partBytes));
  const pieces: Uint8Array[] = [];
  try {
    const body = Readable.fromWeb(response.body as ReadableStream);
    for await (const piece of body) pieces.push(piece);
    return { bytes: Buffer.concat(pieces), isWhole: true };
  } catch {
    return { bytes: Buffer.concat(pieces), isWhole: false };
  }
}

test('createGateway(): the whole file arrives from an honest node', async () => {
  lie = undefined;
  const { bytes, isWhole } = await download();
  expect(isWhole).toBe(true);
  expect(Buffer.compare(bytes, Buffer.concat(parts))).toBe(0);
});

const lies: readonly [string, (reply: Uint8Array) => Uint8Array][] = [
  [
    'has a bit changed',
    (reply) => {
      const at = Buffer.from(reply.buffer).indexOf((parts[3] as Uint8Array).subarray(0, 64));
      reply[at + 50_000] = (reply[at + 50_000] ?? 0) ^ 1;
      return reply;
    },
  ],
  ['is cut', (reply) => reply.subarray(0, reply.length - 1_000)],
];

test.each(lies)('createGateway(): the download breaks off at a part that %s', async (_, change) => {
  lie = (reply, query) => (query === 3 ? change(reply) : reply);
  const { bytes, isWhole } = await download();
  expect(isWhole).toBe(false);
  expect(Buffer.compare(bytes, Buffer.concat(parts.slice(0, 3)))).toBe(0);
});

test('createGateway(): the download breaks off where a part of another file is delivered', async () => {
  const { encodeQueryRequest } = await import(
    '../../packages/replica/src/gateway/candid-messages.ts'
  );
  const asked = encodeQueryRequest({
    method: 'GET',
    url: '/cloud/demo/other.bin',
    headers: [['Range', `bytes=${3 * partBytes}-`]],
    body: new Uint8Array(0),
  });
  const other = await canister.network.query(canister.canisterId, 'http_request', asked);
  lie = (reply, query) => (query === 3 ? other : reply);
  const { bytes, isWhole } = await download();
  expect(isWhole).toBe(false);
  expect(Buffer.compare(bytes, Buffer.concat(parts.slice(0, 3)))).toBe(0);
});
