// /.well-known/webmcp.json through the verifying gateway: each of its tools works. The tests do what
// an agent's client does: validate the arguments by the tool's schema, encode them, call the method,
// and validate the reply.

import { IDL } from '@dfinity/candid';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idlFactory } from '../../packages/client/src/candid/file_storage.did.ts';
import { conversionOf } from '../support/candid-json.ts';
import type { Caller } from '../support/network/network-interface.ts';
import { openService, type Service } from '../support/service.ts';

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly canister_method: string;
  readonly method_type: 'query' | 'update';
  readonly certified?: boolean;
  readonly requires_auth?: boolean;
  readonly inputSchema: object;
  readonly outputSchema: object;
}

interface Tools {
  readonly schema_version: string;
  readonly canister: { readonly id: string; readonly name: string; readonly description: string };
  readonly tools: readonly Tool[];
  readonly authentication: {
    readonly type: string;
    readonly recommended_scope: Readonly<Record<string, object>>;
  };
}

type Json = Readonly<Record<string, unknown>>;

const methods = new Map<string, IDL.FuncClass>(
  (idlFactory as unknown as (kit: object) => IDL.ServiceClass)({ IDL })._fields,
);
const ajv = new Ajv2020({ strict: true, allErrors: true, formats: {} });

let service: Service;
let ofVolume: Tools;
let ofFront: Tools;

/** Names the canister in the URL, because not every system resolves names below localhost. */
function addressAt(canisterId: string): string {
  return `${service.host}/.well-known/webmcp.json?canisterId=${canisterId}`;
}

async function toolsAt(canisterId: string): Promise<Tools> {
  const response = await fetch(addressAt(canisterId));
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(response.headers.get('ic-certificate')).toMatch(/version=2/);
  return (await response.json()) as Tools;
}

beforeAll(async () => {
  service = await openService({ hasFront: true });
  const [front = ''] = new URL(service.frontUrl ?? '').hostname.split('.');
  ofVolume = await toolsAt(service.canisterId);
  ofFront = await toolsAt(front);
});

afterAll(() => service?.stop());

function expectValid(schema: object, value: unknown, what: string): void {
  const validate = ajv.compile(schema);
  expect(validate(value), `${what}: ${JSON.stringify(validate.errors)}`).toBe(true);
}

/** The rule of DFINITY's client: no argument, `arg0` and following, or a record as a whole. */
function argumentsOf(json: Json): unknown[] {
  if (Object.keys(json).length === 0) return [];
  if (!('arg0' in json)) return [json];
  return Object.values(json);
}

/** Calls the tool with arguments in JSON, by default as the anonymous caller; returns the reply. */
async function use(
  { canister, tools }: Tools,
  name: string,
  json: Json = {},
  caller: Caller = 'nobody',
): Promise<unknown> {
  const tool = tools.find((one) => one.name === name) ?? expect.fail(`no tool ${name}`);
  expectValid(tool.inputSchema, json, `arguments of ${name}`);
  const type = methods.get(tool.canister_method) ?? expect.fail(tool.canister_method);
  expect(type.annotations).toEqual(tool.method_type === 'query' ? ['query'] : []);
  const values = argumentsOf(json);
  expect(values).toHaveLength(type.argTypes.length);
  const converted = type.argTypes.map((each, at) => conversionOf(each).fromJson(values[at]));
  const send = tool.method_type === 'query' ? service.network.query : service.network.call;
  const argument = new Uint8Array(IDL.encode(type.argTypes, converted));
  const reply = await send(canister.id, tool.canister_method, argument, caller);
  const [result] = IDL.decode(type.retTypes, reply);
  const shown = conversionOf(type.retTypes[0] ?? IDL.Null).toJson(result);
  expectValid(tool.outputSchema, shown, `reply of ${name}`);
  return shown;
}

const okOf = (result: unknown) =>
  (result as { ok?: unknown }).ok ?? expect.fail(JSON.stringify(result));
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('GET /.well-known/webmcp.json', () => {
  test('names the canister, and describes each tool', () => {
    expect(ofVolume.canister.id).toBe(service.canisterId);
    expect(ofFront.canister.id).not.toBe(service.canisterId);
    for (const { schema_version, canister, tools, authentication } of [ofVolume, ofFront]) {
      expect([schema_version, canister.name]).toEqual(['1.0', 'Encrypted File Storage']);
      expect(canister.description).toContain('get_api_doc');
      expect(tools.filter(({ description }) => description.length < 10)).toEqual([]);
      expect(tools.filter(({ certified }) => certified !== undefined)).toEqual([]);
      const signed = tools.filter(({ requires_auth }) => requires_auth === true);
      const scope = Object.keys(authentication.recommended_scope);
      expect(scope).toEqual(signed.map(({ canister_method }) => canister_method));
    }
  });

  test('is bounded', async () => {
    const sizes = [ofVolume, ofFront].map(async ({ canister }) => {
      return (await (await fetch(addressAt(canister.id))).text()).length;
    });
    const [volume = 0, front = 0] = await Promise.all(sizes);
    expect(volume).toBeLessThan(32_000);
    expect(front).toBeLessThan(12_000);
  });
});

describe('the tools of a front', () => {
  test('explain, list volumes and create a bucket', async () => {
    expect(await use(ofFront, 'get_api_doc')).toMatch(/^# Encrypted File Storage/);
    expect(okOf(await use(ofFront, 'get_status'))).toMatchObject({ role: { front: {} } });
    const [volume] = okOf(await use(ofFront, 'list_volumes')) as [{ canisterId: string }];
    expect(volume.canisterId).toBe(service.canisterId);
    const options = { isPublic: true, quotaFiles: '5' };
    const made = await use(ofFront, 'create_bucket', { arg0: 'tools', arg1: options }, 'owner');
    expect(okOf(made)).toMatchObject({ id: 'tools', isPublic: true, quotaFiles: '5' });
  });
});

describe('the tools of a volume', () => {
  const key = () => service.apiKey;
  const place = () => ({ arg0: service.bucket, arg1: 'notes/a.txt' });

  test('explain, and list the buckets of an owner', async () => {
    expect(await use(ofVolume, 'get_api_doc')).toMatch(/^# Encrypted File Storage/);
    okOf(await use(ofVolume, 'get_status'));
    const all = { arg0: null, arg1: '50' };
    const { items } = okOf(await use(ofVolume, 'list_buckets', all, 'owner')) as { items: [] };
    expect(items).toContainEqual(expect.objectContaining({ id: service.bucket }));
    const front = await use(ofVolume, 'create_bucket', { arg0: 'x', arg1: null }, 'owner');
    expect(front).toEqual({ err: expect.stringMatching(/^MethodNotAllowed|^AccessDenied/) });
  });

  test('store, list, read and delete a file', async () => {
    const bucketId = service.bucket;
    const file = { path: 'notes/a.txt', contentType: 'text/plain', bytes: base64('hello') };
    const metadata = [['from', 'agent']];
    okOf(await use(ofVolume, 'upload_file', { bucketId, ...file, metadata, apiKey: key() }));
    const folder = { bucketId, prefix: 'notes/', delimiter: '/', limit: '10', apiKey: key() };
    const { items } = okOf(await use(ofVolume, 'list_folder', folder)) as { items: Json[] };
    expect(items).toMatchObject([{ path: 'notes/a.txt', size: '5', metadata }]);
    const found = await use(ofVolume, 'get_file', { ...place(), arg2: key() });
    expect(okOf(found)).toMatchObject({ path: 'notes/a.txt' });
    const range = { arg2: '1', arg3: '3', arg4: key() };
    const read = await use(ofVolume, 'read_file', { ...place(), ...range });
    expect(read).toEqual({ ok: base64('ell') });
    expect(await use(ofVolume, 'delete_file', { ...place(), arg2: key() })).toBe('ok');
  });

  test('store a file in chunks', async () => {
    const text = 'a'.repeat(100_000);
    const begin = { arg0: service.bucket, arg1: 'big', arg2: 'text/plain', arg3: '100000' };
    const id = okOf(await use(ofVolume, 'begin_file_upload', { ...begin, arg4: null }, 'owner'));
    const [first, last] = [text.slice(0, 65_536), text.slice(65_536)];
    const send = (index: string, part: string) => {
      const chunk = { arg0: id, arg1: index, arg2: base64(part) };
      return use(ofVolume, 'upload_file_chunk_indexed', chunk, 'owner');
    };
    expect(await send('0', first)).toEqual({ ok: '65536' });
    expect(await send('1', last)).toEqual({ ok: '100000' });
    okOf(await use(ofVolume, 'complete_file_upload', { arg0: id, arg1: null }, 'owner'));
    const range = { arg0: service.bucket, arg1: 'big', arg2: '99998', arg3: '2', arg4: key() };
    expect(await use(ofVolume, 'read_file', range)).toEqual({ ok: base64('aa') });
  });

  test('create, list and delete a link', async () => {
    const place = { bucketId: service.bucket, path: 'big', apiKey: key() };
    const made = okOf(await use(ofVolume, 'create_link', { ...place, expiresAt: null }));
    const { id, url } = made as { id: string; url: string };
    expect((await fetch(`${service.base}${url}`)).status).toBe(200);
    const { items } = okOf(await use(ofVolume, 'list_links', place)) as { items: Json[] };
    expect(items).toMatchObject([{ id, path: 'big' }]);
    const link = { arg0: service.bucket, arg1: id, arg2: key() };
    expect(await use(ofVolume, 'delete_link', link)).toBe('ok');
    expect((await fetch(`${service.base}${url}`)).status).toBe(404);
  });

  test('with requires_auth refuse an anonymous caller without a key, the others answer', async () => {
    const none = { arg0: service.bucket, arg1: 'big', arg2: null };
    // The inspection of a network rejects the call with the same error
    const refused = await use(ofVolume, 'delete_file', none).catch(String);
    expect(JSON.stringify(refused)).toContain('AccessDenied');
    const open = { arg0: 'tools', arg1: 'public.txt' };
    const file = { bucketId: 'tools', path: open.arg1, contentType: 'text/plain' };
    okOf(await use(ofVolume, 'upload_file', { ...file, bytes: base64('hi') }, 'owner'));
    const range = { arg2: '0', arg3: '2', arg4: null };
    expect(await use(ofVolume, 'read_file', { ...open, ...range })).toEqual({ ok: base64('hi') });
  });
});
