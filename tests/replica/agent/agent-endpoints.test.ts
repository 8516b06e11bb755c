import { createPublicKey, verify } from 'node:crypto';
import { Certificate } from '@dfinity/agent';
import { Principal } from '@dfinity/principal';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentEndpoints } from '../../../packages/replica/src/agent/agent-endpoints.ts';
import { createAgentEndpoints } from '../../../packages/replica/src/agent/agent-endpoints.ts';
import type { AgentResponse } from '../../../packages/replica/src/agent/agent-message.ts';
import type { HashableValue } from '../../../packages/replica/src/agent/request-id.ts';
import { hashOfMap, signedBytes } from '../../../packages/replica/src/agent/request-id.ts';
import type { Certification } from '../../../packages/replica/src/state/certification.ts';
import { createCertification } from '../../../packages/replica/src/state/certification.ts';
import {
  decodeSelfDescribed,
  encodeSelfDescribed,
} from '../../../packages/replica/src/state/self-described-cbor.ts';
import type { PlainEngine } from './plain-engine.ts';
import { canisterId, createPlainEngine } from './plain-engine.ts';
import type { Content } from './signed-request.ts';
import { callContent, createKey, readStateContent, signedBody } from './signed-request.ts';

let engine: PlainEngine;
let certification: Certification;
let endpoints: AgentEndpoints;

const ecid = canisterId.toText();
const key = createKey('ed25519');
const management = Principal.managementCanister();

beforeEach(() => {
  engine = createPlainEngine();
  certification = createCertification({ rootSecret: new Uint8Array(32), engine: () => engine });
  endpoints = createAgentEndpoints({
    engine,
    certification,
    now: engine.now,
    effectiveCanisterId: (method) => {
      if (method === 'garbage') throw new Error('cannot decode the argument');
      return method === 'install_code' ? canisterId : undefined;
    },
  });
});

afterEach(() => vi.useRealTimers());

function post(path: string, body: Uint8Array): Promise<AgentResponse> {
  return endpoints.handle({ method: 'POST', path, body });
}

function anonymous(content: Content): Uint8Array {
  return encodeSelfDescribed({ content });
}

function call(overrides: Record<string, HashableValue>, version = 'v4'): Promise<AgentResponse> {
  return post(`/api/${version}/canister/${ecid}/call`, anonymous(callContent(overrides)));
}

function readState(paths: (string | Uint8Array)[][], version = 'v3'): Promise<AgentResponse> {
  const body = anonymous(readStateContent(paths, {}));
  return post(`/api/${version}/canister/${ecid}/read_state`, body);
}

function fieldsOf(response: AgentResponse): Map<string, unknown> {
  expect(response.status).toBe(200);
  return decodeSelfDescribed(response.body) as Map<string, unknown>;
}

function textOf(response: AgentResponse): string {
  expect(response.contentType).toMatch(/^text\/plain/);
  return `${response.status} ${Buffer.from(response.body).toString()}`;
}

async function certified(response: AgentResponse, ...path: (string | Uint8Array)[]) {
  const certificate = await Certificate.create({
    certificate: fieldsOf(response).get('certificate') as Uint8Array,
    rootKey: certification.rootKey(),
    canisterId,
  });
  const result = certificate.lookup_path(path);
  return 'value' in result ? Buffer.from(result.value as Uint8Array).toString() : result.status;
}

const idOf = (content: Content): Uint8Array => hashOfMap(new Map(Object.entries(content)));

describe('status', () => {
  it('returns the root key and the health', async () => {
    const path = '/api/v2/status';
    const response = await endpoints.handle({ method: 'GET', path, body: new Uint8Array() });
    const status = fieldsOf(response);
    expect(Buffer.from(status.get('root_key') as Uint8Array)).toEqual(
      Buffer.from(certification.rootKey()),
    );
    expect(status.get('replica_health_status')).toBe('healthy');
  });
});

describe('call', () => {
  it('answers v3 and v4 with the certified reply', async () => {
    for (const version of ['v3', 'v4']) {
      const content = callContent({ nonce: Buffer.from(version) });
      const response = await post(`/api/${version}/canister/${ecid}/call`, anonymous(content));
      expect(fieldsOf(response).get('status')).toBe('replied');
      expect(await certified(response, 'request_status', idOf(content), 'status')).toBe('replied');
      expect(await certified(response, 'request_status', idOf(content), 'reply')).toBe('argument');
    }
  });

  it('answers a rejected call and a fault of the engine with a certificate too', async () => {
    for (const [method_name, message] of [
      ['trap', 'it trapped'],
      ['throw', 'The local replica failed to execute the message: engine fault'],
    ] as const) {
      const content = callContent({ method_name });
      const response = await post(`/api/v4/canister/${ecid}/call`, anonymous(content));
      expect(await certified(response, 'request_status', idOf(content), 'reject_message')).toBe(
        message,
      );
    }
  });

  it('of v2 answers 202 at once, and the reply can be read by polling', async () => {
    const content = callContent({ method_name: 'wait' });
    const response = await post(`/api/v2/canister/${ecid}/call`, anonymous(content));
    expect([response.status, response.body.length]).toEqual([202, 0]);
    const status = ['request_status', idOf(content), 'status'];
    const path = ['request_status', idOf(content)];
    expect(await certified(await readState([path]), ...status)).toBe('processing');
    engine.release();
    await certification.requests.completion(idOf(content));
    expect(await certified(await readState([path]), ...status)).toBe('replied');
  });

  it('of v4 answers 202 when the reply takes longer than ten seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const response = call({ method_name: 'wait' });
    await vi.waitFor(() => expect(engine.updates).toHaveLength(1));
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await response).status).toBe(202);
    engine.release();
  });

  it('executes the same message once, however often and wherever it arrives', async () => {
    const body = anonymous(callContent({ method_name: 'wait' }));
    const send = (version: string) => post(`/api/${version}/canister/${ecid}/call`, body);
    const responses = [send('v4'), send('v4'), send('v2')];
    await vi.waitFor(() => expect(engine.updates).toHaveLength(1));
    engine.release();
    const [first, second] = await Promise.all(responses);
    expect(first?.body).toEqual(second?.body);
    expect(fieldsOf(await send('v4')).get('status')).toBe('replied');
    expect(engine.updates).toHaveLength(1);
    await call({ method_name: 'echo', nonce: Buffer.from('another') });
    expect(engine.updates).toHaveLength(2);
  });

  it('that is refused before execution is answered without a certificate', async () => {
    const rejection = { reject_code: 4, reject_message: 'not this one', error_code: 'IC0406' };
    const sync = fieldsOf(await call({ method_name: 'refused' }));
    expect(Object.fromEntries(sync)).toEqual({ status: 'non_replicated_rejection', ...rejection });
    const asynchronous = fieldsOf(await call({ method_name: 'refused' }, 'v2'));
    expect(Object.fromEntries(asynchronous)).toEqual(rejection);
    expect(certification.requests.count()).toBe(0);
  });

  it("of more than 2 MiB is refused with the network's error text", async () => {
    const overhead = anonymous(callContent({ arg: new Uint8Array(2_000_000) })).length - 2_000_000;
    const fits = await call({ arg: new Uint8Array(2_097_152 - overhead) });
    expect(fits.status).toBe(200);
    const tooLarge = await call({ arg: new Uint8Array(2_097_153 - overhead) });
    expect(textOf(tooLarge)).toMatch(
      /^413 Request [0-9a-f]{64} is too large. Message byte size 2097153 is larger than the max allowed 2097152.$/,
    );
    expect(textOf(await call({ arg: new Uint8Array(5_300_000) }))).toMatch(/^413 /);
  });

  it('must match the canister in the URL', async () => {
    const other = Principal.fromHex('00000000000000020101');
    const canister_id = management.toUint8Array();
    const elsewhere = await call({ canister_id: other.toUint8Array() });
    expect(textOf(elsewhere)).toBe(
      `400 Specified CanisterId ${other.toText()} does not match effective canister id in URL ${ecid}`,
    );
    expect((await call({ canister_id, method_name: 'install_code' })).status).toBe(200);
    const install = anonymous(callContent({ canister_id, method_name: 'install_code' }));
    expect(textOf(await post(`/api/v4/canister/${other.toText()}/call`, install))).toMatch(/^400 /);
    expect(textOf(await call({ canister_id, method_name: 'garbage' }))).toMatch(/cannot decode/);
  });

  it("at a subnet must have the subnet's id in the URL and go to the management canister", async () => {
    const own = `/api/v4/subnet/${certification.subnetId.toText()}/call`;
    const create = callContent({
      canister_id: management.toUint8Array(),
      method_name: 'create_canister',
    });
    expect((await post(own, anonymous(create))).status).toBe(200);
    expect(textOf(await post(own, anonymous(callContent({}))))).toMatch(
      /^400 Specified CanisterId/,
    );
    expect(textOf(await post(`/api/v4/subnet/${ecid}/call`, anonymous(create)))).toMatch(
      /^400 Specified subnet ID/,
    );
  });
});

describe('query', () => {
  it("is answered with the node's signature over answer, time and request id", async () => {
    for (const [method_name, signed] of [
      [
        'echo',
        [
          ['status', 'replied'],
          ['reply', new Map([['arg', Buffer.from('argument')]])],
        ],
      ],
      [
        'trap',
        [
          ['status', 'rejected'],
          ['reject_code', 5],
          ['reject_message', 'it trapped'],
          ['error_code', 'IC0503'],
        ],
      ],
    ] as const) {
      const content = callContent({ request_type: 'query', method_name });
      const response = await post(`/api/v3/canister/${ecid}/query`, anonymous(content));
      const fields = fieldsOf(response);
      const [entry] = fields.get('signatures') as Map<string, Uint8Array>[];
      const message = signedBytes(
        'ic-response',
        new Map<string, HashableValue>([
          ...signed,
          ['timestamp', engine.nowNs],
          ['request_id', idOf(content)],
        ]),
      );
      const der = Buffer.from(certification.nodeKey.publicKey);
      const nodeKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
      expect(verify(null, message, nodeKey, entry?.get('signature') ?? new Uint8Array())).toBe(
        true,
      );
      expect(fields.get('status')).toBe(signed[0][1]);
    }
  });

  it('whose engine fails is answered with 500', async () => {
    const content = callContent({ request_type: 'query', method_name: 'throw' });
    expect(textOf(await post(`/api/v2/canister/${ecid}/query`, anonymous(content)))).toMatch(
      /^500 The local replica failed to answer: engine fault/,
    );
  });
});

describe('read_state', () => {
  it('returns only the paths that the specification allows', async () => {
    const id = canisterId.toUint8Array();
    const other = Principal.fromHex('00000000000000020101').toUint8Array();
    const invalid: (string | Uint8Array)[][] = [
      [],
      ['canister'],
      ['canister', id],
      ['canister', id, 'certified_data'],
      ['canister', id, 'metadata'],
      ['canister_ranges'],
      ['canister_ranges', id],
      ['request_status'],
      ['time', 'x'],
      ['nothing'],
    ];
    for (const path of invalid) {
      expect(textOf(await readState([path]))).toBe('404 Invalid path requested.');
    }
    expect(textOf(await readState([['canister', other, 'module_hash']]))).toMatch(/^400 Effective/);
    expect(textOf(await readState([['request_status', id]]))).toMatch(
      /^400 Request IDs must be 32/,
    );
    const two = [1, 2].map((byte) => ['request_status', new Uint8Array(32).fill(byte)]);
    expect(textOf(await readState(two))).toMatch(/^400 Can only request a single request ID/);
  });

  it('limits paths to 1000 and labels to 127', async () => {
    const times = Array.from({ length: 1_000 }, () => ['time']);
    expect((await readState(times)).status).toBe(200);
    expect(textOf(await readState([...times, ['time']]))).toMatch(/^400 Too many paths.*1001/);
    const deep = Array.from({ length: 128 }, () => 'time');
    expect(textOf(await readState([deep]))).toMatch(/^400 .*too deep: got 128 labels/);
  });

  it('shows a private section only to controllers', async () => {
    const path = ['canister', canisterId.toUint8Array(), 'metadata', 'private'];
    expect(textOf(await readState([path]))).toMatch(/^403 Custom section private can only/);
    engine.controllers = [key.sender];
    const content = readStateContent([path], { sender: undefined });
    const url = `/api/v3/canister/${ecid}/read_state`;
    const response = await post(url, signedBody(content, { key }));
    expect(await certified(response, ...path)).toBe('for controllers only');
    const open = ['canister', canisterId.toUint8Array(), 'metadata', 'candid:service'];
    expect(await certified(await readState([open]), ...open)).toBe('service : {}');
  });

  it('shows a request only to its sender', async () => {
    const content = callContent({ sender: key.sender.toUint8Array() });
    await post(`/api/v4/canister/${ecid}/call`, signedBody(content, { key }));
    const path = ['request_status', idOf(content)];
    expect(textOf(await readState([path]))).toBe(
      '403 Request IDs must be for requests signed by the caller.',
    );
    const body = signedBody(readStateContent([path], { sender: undefined }), { key });
    const response = await post(`/api/v2/canister/${ecid}/read_state`, body);
    expect(await certified(response, ...path, 'reply')).toBe('argument');
  });

  it('at a subnet shows its canister ranges and no canister', async () => {
    const subnetId = certification.subnetId;
    const url = `/api/v3/subnet/${subnetId.toText()}/read_state`;
    const ranges = readStateContent([['canister_ranges', subnetId.toUint8Array()]], {});
    expect((await post(url, anonymous(ranges))).status).toBe(200);
    const both = [['api_boundary_nodes'], ['canister_ranges', subnetId.toUint8Array()]];
    const response = await post(url, anonymous(readStateContent(both, {})));
    const start = Buffer.from('00000000000000000101', 'hex');
    expect(await certified(response, 'canister_ranges', subnetId.toUint8Array(), start)).toContain(
      String.fromCharCode(1, 1),
    );
    const canister = [['canister', canisterId.toUint8Array(), 'module_hash']];
    expect(textOf(await post(url, anonymous(readStateContent(canister, {}))))).toMatch(/^404 /);
  });
});
