// HTTPS outcalls of a canister: limits, price, transformation and failures. The canister passes the
// test's argument to the management canister with a hundred billion cycles.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  fetchOutcalls,
  OutcallError,
  type OutcallRequest,
  type Outcalls,
} from '../../../packages/replica/src/outcalls.ts';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';
import { canister } from '../../support/wasm-canisters/text-module.ts';

const attached = 100_000_000_000n;

/** `ask` returns the answer after a byte for the reject code and eight for the refund. */
const asking = () =>
  canister(
    [
      ...['msg_arg_data_size', 'msg_arg_data_copy', 'msg_caller_size', 'msg_reject_code'],
      ...['msg_reject_msg_size', 'msg_reject_msg_copy', 'msg_cycles_refunded'],
      ...['call_new', 'call_data_append', 'call_cycles_add', 'call_perform'],
    ],
    `(table 2 funcref) (elem (i32.const 0) $replied $rejected) (memory 80)
    (data (i32.const 100) "http_request")
    (func $head
      (i32.store8 (i32.const 0) (call $msg_reject_code))
      (i64.store (i32.const 1) (call $msg_cycles_refunded))
      (call $msg_reply_data_append (i32.const 0) (i32.const 9)))
    (func $replied (param i32) (local i32)
      (call $head)
      (local.set 1 (call $msg_arg_data_size))
      (call $msg_arg_data_copy (i32.const 1000) (i32.const 0) (local.get 1))
      (call $msg_reply_data_append (i32.const 1000) (local.get 1)) (call $msg_reply))
    (func $rejected (param i32) (local i32)
      (call $head)
      (local.set 1 (call $msg_reject_msg_size))
      (call $msg_reject_msg_copy (i32.const 1000) (i32.const 0) (local.get 1))
      (call $msg_reply_data_append (i32.const 1000) (local.get 1)) (call $msg_reply))
    (func $arg (result i32) (local i32)
      (local.set 0 (call $msg_arg_data_size))
      (call $msg_arg_data_copy (i32.const 1000) (i32.const 0) (local.get 0)) (local.get 0))
    (func (export "canister_update ask")
      (call $call_new (i32.const 0) (i32.const 0) (i32.const 100) (i32.const 12)
        (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0))
      (call $call_data_append (i32.const 1000) (call $arg))
      (call $call_cycles_add (i64.const ${attached}))
      (drop (call $call_perform)))
    (func (export "canister_query echo")
      (call $msg_reply_data_append (i32.const 1000) (call $arg)) (call $msg_reply))
    (func (export "canister_query caller") (call $reply32 (call $msg_caller_size)))
    (func (export "canister_query long")
      (call $msg_reply_data_append (i32.const 0) (i32.const 4000)) (call $msg_reply))
    (func (export "canister_query trap") unreachable)`,
  );

const blob = IDL.Vec(IDL.Nat8);
const headersType = IDL.Vec(IDL.Record({ name: IDL.Text, value: IDL.Text }));
const responseType = IDL.Record({ status: IDL.Nat, headers: headersType, body: blob });
const transformType = IDL.Record({ response: responseType, context: blob });
const methodNames = ['get', 'head', 'post', 'put', 'delete', 'patch'] as const;
const argumentType = IDL.Record({
  url: IDL.Text,
  max_response_bytes: IDL.Opt(IDL.Nat64),
  method: IDL.Variant(Object.fromEntries(methodNames.map((name) => [name, IDL.Null]))),
  headers: headersType,
  body: IDL.Opt(blob),
  transform: IDL.Opt(
    IDL.Record({ function: IDL.Func([transformType], [responseType], ['query']), context: blob }),
  ),
  is_replicated: IDL.Opt(IDL.Bool),
});

const usual = {
  url: 'https://example.org/path',
  max_response_bytes: [1_000n] as bigint[],
  method: { get: null } as object,
  headers: [] as readonly { name: string; value: string }[],
  body: [] as Uint8Array[],
  transform: [] as object[],
  is_replicated: [] as boolean[],
};
const answer = { status: 200, headers: [{ name: 'x', value: 'y' }], body: Buffer.from('hello') };

let replica: Replica;
let id: string;
let asked: OutcallRequest[] = [];
let carryOut: Outcalls;

beforeAll(async () => {
  const outcalls: Outcalls = (request) => {
    asked.push(request);
    return carryOut(request);
  };
  replica = await startReplica({ server: false, outcalls });
  id = (await replica.createCanister()).toText();
  await replica.install(id, asking());
});

beforeEach(() => {
  asked = [];
  carryOut = async () => answer;
});

afterAll(() => replica.stop());

interface Answer {
  /** 0 for a reply. */
  readonly code: number;
  readonly cost: bigint;
  readonly bytes: Buffer;
}

async function ask(
  change: Partial<typeof usual>,
  from = replica,
  canisterId = id,
): Promise<Answer> {
  const arg = new Uint8Array(IDL.encode([argumentType], [{ ...usual, ...change }]));
  const reply = Buffer.from(await from.call(canisterId, 'ask', arg));
  return {
    code: reply.readUInt8(0),
    cost: attached - reply.readBigUInt64LE(1),
    bytes: reply.subarray(9),
  };
}

const decode = (type: IDL.Type, bytes: Buffer) => IDL.decode([type], new Uint8Array(bytes))[0];
const transformBy = (method: string, context = new Uint8Array()) => [
  { function: [Principal.fromText(id), method], context },
];
const header = (name: string, value: string) => ({ name, value });
const many = (count: number, value = '') =>
  Array.from({ length: count }, (_, index) => header(`h${index}`, value));

/** `rs/config/src/subnet_config.rs`, 13 nodes; see "Cycles costs". */
const price = (requestBytes: number, responseBytes: number) =>
  49_140_000n + 5_200n * BigInt(requestBytes) + 10_400n * BigInt(responseBytes);

describe('Interface specification, "IC method http_request"', () => {
  test('an answer is returned unchanged, and costs the price of its maximum size', async () => {
    const { code, cost, bytes } = await ask({ headers: [header('A', 'b')] });
    expect(code).toBe(0);
    expect(decode(responseType, bytes)).toEqual({
      ...answer,
      status: 200n,
      body: new Uint8Array(answer.body),
    });
    expect(cost).toBe(price(usual.url.length + 2, 1_000));
    expect(asked).toEqual([
      {
        url: usual.url,
        method: 'GET',
        headers: [header('A', 'b'), header('user-agent', 'ic/1.0')],
        body: new Uint8Array(),
        maxResponseBytes: 1_000,
      },
    ]);
  });

  test('a user-agent header of the canister is kept, and 2 MB are the default limit', async () => {
    const headers = [header('User-Agent', 'mine')];
    const { cost } = await ask({ headers, max_response_bytes: [], body: [Buffer.from('abc')] });
    expect(asked[0]).toMatchObject({ headers, maxResponseBytes: 2_000_000 });
    expect(cost).toBe(price(usual.url.length + 14 + 3, 2_000_000));
  });

  test('a method of the canister transforms the answer, called by the management canister', async () => {
    const context = Uint8Array.of(1, 2, 3);
    const { code, cost, bytes } = await ask({ transform: transformBy('echo', context) });
    expect(code).toBe(0);
    expect(decode(transformType, bytes)).toMatchObject({ context, response: { status: 200n } });
    expect(cost).toBe(price(usual.url.length + 'echo'.length + 3, 1_000));
    // The principal `aaaaa-aa` is empty.
    const byWhom = await ask({ transform: transformBy('caller') });
    expect(byWhom.bytes.readInt32LE(0)).toBe(0);
  });

  test.each([
    ['put', [], 4],
    ['delete', [true], 4],
    ['patch', [], 4],
    ['put', [false], 0],
    ['delete', [false], 0],
    ['patch', [false], 0],
    ['post', [], 0],
    ['head', [true], 0],
  ])('%s with is_replicated %j has reject code %i', async (name, replicated, code) => {
    const result = await ask({ method: { [name]: null }, is_replicated: replicated });
    expect(result.code).toBe(code);
    expect(asked.map(({ method }) => method)).toEqual(code === 0 ? [name.toUpperCase()] : []);
  });
});

describe('rs/types/types/src/canister_http.rs: a refused request costs nothing', () => {
  const total = 48 * 1_024;
  test.each([
    [{ url: `https://e.org/${'a'.repeat(8_179)}` }, /^url size 8193 exceeds 8192$/],
    [{ headers: many(65) }, /number of all http headers 65 exceeds 64/],
    [{ headers: [header('n'.repeat(8_193), '')] }, /http header name 8193 exceeds 8192/],
    [{ headers: [header('', 'v'.repeat(8_193))] }, /http header value 8193 exceeds 8192/],
    [
      { headers: many(7, 'v'.repeat(7_100)) },
      new RegExp(`names and values 497\\d\\d exceeds ${total}`),
    ],
    [{ body: [new Uint8Array(2_000_001)] }, /and http body 2000001 exceeds 2000000/],
    [{ max_response_bytes: [2_000_001n] }, /in the range \[0\.\.2000000\], got 2000001/],
    [{ transform: [{ function: [Principal.fromText('aaaaa-aa'), 'a'], context: [] }] }, /expected/],
  ])('case %#', async (change, words) => {
    const { code, cost, bytes } = await ask(change);
    expect(bytes.toString()).toMatch(words);
    expect({ code, cost, asked }).toEqual({ code: 4, cost: 0n, asked: [] });
  });

  test('requests at the limits are accepted', async () => {
    const url = `https://e.org/${'a'.repeat(8_178)}`;
    const headers = [...many(62), header('n', 'v'.repeat(8_192)), header('user-agent', '')];
    const { code } = await ask({ url, headers, body: [new Uint8Array(1_900_000)] });
    expect(code).toBe(0);
  });
});

describe('rs/https_outcalls: a request that fails on its way is paid for', () => {
  const fails =
    (error: Error): Outcalls =>
    () =>
      Promise.reject(error);
  const gives =
    (change: object): Outcalls =>
    async () => ({ ...answer, ...change });

  test.each<[string, Partial<typeof usual>, Outcalls, number, RegExp]>([
    ['http', { url: 'http://example.org/' }, gives({}), 1, /specify https scheme/],
    ['no URL', { url: 'example' }, gives({}), 1, /Failed to parse URL/],
    ['no connection', {}, fails(new Error('refused')), 2, /^refused$/],
    ['a fatal failure', {}, fails(new OutcallError(1, 'Timeout expired')), 1, /^Timeout expired$/],
    ['a long body', {}, gives({ body: new Uint8Array(999) }), 1, /body exceeds size limit of 1000/],
    ['long headers', {}, gives({ headers: many(3, 'v'.repeat(400)) }), 1, /Header size .* 1000/],
    ['many headers', {}, gives({ headers: many(65) }), 1, /headers 65 exceeds 64/],
  ])('%s', async (_, change, outcalls, code, words) => {
    carryOut = outcalls;
    const result = await ask(change);
    expect(result.bytes.toString()).toMatch(words);
    expect(result.code).toBe(code);
    expect(result.cost).toBe(price((change.url ?? usual.url).length, 1_000));
  });

  test.each([
    ['long', 1, /^Transformed http response exceeds limit: 1000$/],
    ['trap', 5, /unreachable/],
    ['absent', 5, /no query method 'absent'/],
  ])('a transformation by method `%s`', async (method, code, words) => {
    const result = await ask({ transform: transformBy(method) });
    expect(result.bytes.toString()).toMatch(words);
    expect(result.code).toBe(code);
  });
});

describe('HTTPS outcalls', () => {
  test('are refused, unless startReplica() has the option outcalls', async () => {
    const other = await startReplica({ server: false });
    const otherId = await other.createCanister();
    await other.install(otherId, asking());
    const { code, cost, bytes } = await ask({}, other, otherId.toText());
    expect({ code, cost }).toEqual({ code: 4, cost: 0n });
    expect(bytes.toString()).toMatch(
      /no HTTPS outcalls by default: .*--outcalls.*option `outcalls`/,
    );
    await other.stop();
  });

  describe('fetchOutcalls', () => {
    let server: Server;
    let base: string;

    beforeAll(async () => {
      server = createServer((request, response) => {
        const body: Buffer[] = [];
        request.on('data', (piece) => body.push(piece));
        request.on('end', () => {
          const isMoved = request.url === '/moved';
          response.writeHead(isMoved ? 301 : 200, {
            'X-Asked': `${request.method} ${request.headers['user-agent']} ${request.headers.host}`,
            ...(isMoved && { Location: '/' }),
          });
          response.end(request.url === '/large' ? Buffer.alloc(3_000_000) : Buffer.concat(body));
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });

    beforeEach(() => {
      carryOut = fetchOutcalls;
    });

    afterAll(() => {
      server.closeAllConnections();
      server.close();
    });

    test('reaches a server on this machine, and returns its headers in lower case', async () => {
      const body = [Buffer.from('posted')];
      const { code, bytes } = await ask({ url: `${base}/`, method: { post: null }, body });
      expect(code, bytes.toString()).toBe(0);
      const response = decode(responseType, bytes) as unknown as {
        headers: object[];
        body: Uint8Array;
      };
      const host = new URL(base).host;
      expect(response.headers).toContainEqual(header('x-asked', `POST ic/1.0 ${host}`));
      expect(Buffer.from(response.body).toString()).toBe('posted');
    });

    test('follows no redirect', async () => {
      const { bytes } = await ask({ url: `${base}/moved` });
      expect(decode(responseType, bytes)).toMatchObject({ status: 301n });
    });

    test.each([
      ['/large', {}, 1, /Http body exceeds size limit of 1000 bytes/],
      ['/', { headers: [header('a b', '')] }, 1, /a b/],
    ])('%s %o is refused', async (path, change, code, words) => {
      const result = await ask({ url: `${base}${path}`, ...change });
      expect(result.bytes.toString()).toMatch(words);
      expect(result.code).toBe(code);
    });

    test('an address where nobody listens is SYS_TRANSIENT', async () => {
      const { code, bytes } = await ask({ url: 'http://127.0.0.1:9/' });
      expect(code).toBe(2);
      expect(bytes.toString()).toMatch(/^Connecting to 127\.0\.0\.1 failed: /);
    });
  });
});
