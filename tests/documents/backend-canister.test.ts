// The canisters of docs/how-to/backend.md, which hold a bucket for their users. The Azle one runs as
// the page shows it; the Motoko and Rust ones must use the methods and types of the interface.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import { ResultApiKeys } from '../../src/actor/candid/operations.ts';
import { exchangeWith } from '../support/raw-exchange.ts';
import { ServiceOfVolumes } from '../support/service-of-volumes.ts';
import { buildAzle } from '../support/wasm-canisters/azle-project.ts';
import { projectDir } from '../tidy/source-tree.ts';
import { readPages } from './support/pages.ts';

interface UserKey {
  readonly volume: Principal;
  readonly bucket: string;
  readonly prefix: string;
  readonly secret: string;
  readonly expiresAt: bigint;
}

const minuteNs = 60_000_000_000n;
const { Int, Text } = IDL;
const place = { volume: IDL.Principal };
const UserKey = IDL.Record({ ...place, bucket: Text, prefix: Text, secret: Text, expiresAt: Int });
const UserLink = IDL.Record({ ...place, url: Text });

const [ada, ben, eve] = [0, 1, 2].map(() => principalOf(newIdentity())) as [
  Principal,
  Principal,
  Principal,
];
const service = new ServiceOfVolumes();
let backendWasm: Uint8Array;
/** The id of a service, and the volumes where its bucket may be. */
const services = new Map<string, { id: Principal; volumes: readonly Principal[] }>();

function sourceOf(language: string): string {
  const page = readPages().find(({ path }) => path === 'docs/how-to/backend.md');
  const blocks = page?.blocks.filter((block) => block.isCanister && block.language === language);
  expect(blocks?.length, language).toBe(1);
  return blocks?.[0]?.text ?? '';
}

beforeAll(async () => {
  backendWasm = await buildAzle(sourceOf('ts'));
  await service.start(2, { isOnline: true });
  const volume = await service.replica.createCanister({ controllers: [service.controller] });
  await service.replica.install(volume, service.wasm);
  services.set('a front with two volumes', { id: service.frontId, volumes: service.volumes });
  services.set('a volume without a front', { id: volume, volumes: [volume] });
  await vi.waitFor(
    async () =>
      expect((await service.listed()).map(({ state }) => state)).toEqual(['open', 'open']),
    { timeout: 60_000 },
  );
});
afterAll(() => service.stop());

class Backend {
  private constructor(readonly id: Principal) {}

  static async install(): Promise<Backend> {
    const id = await service.replica.createCanister({ controllers: [service.controller] });
    await service.replica.install(id, backendWasm);
    return new Backend(id);
  }

  async call<T>(sender: Principal, method: string, ...given: (Principal | string)[]): Promise<T> {
    const types = given.map((value) => (typeof value === 'string' ? Text : IDL.Principal));
    const argument = new Uint8Array(IDL.encode(types, given));
    const reply = await service.replica.call(this.id, method, argument, { sender });
    const results: Record<string, IDL.Type[]> = {
      open: [IDL.Principal],
      admit: [],
      createKey: [UserKey],
      createLink: [UserLink],
    };
    return IDL.decode(results[method] ?? [], reply)[0] as T;
  }

  open(id: Principal): Promise<Principal> {
    return this.call(service.controller, 'open', id);
  }

  admit(user: Principal): Promise<void> {
    return this.call(service.controller, 'admit', user);
  }
}

function allow(id: Principal, creator: Principal): Promise<void> {
  const Access = IDL.Record({ allow: IDL.Opt(IDL.Vec(IDL.Principal)) });
  return service.asked(id).call('updateAccess', [Access], [{ allow: [[creator]] }]);
}

/** Sends a request with the key to the API of the key's bucket. */
function send({ volume, bucket, secret }: UserKey, method: string, path: string, body?: string) {
  return exchangeWith(service.replica.url, `${volume}.localhost`, {
    method,
    path: `/api/v1/bucket/${bucket}/files/${path}`,
    headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'text/plain' },
    ...(body !== undefined && { body }),
  });
}

async function listedKeys(volume: Principal, owner: Principal) {
  const argument = new Uint8Array(IDL.encode([Text], ['app']));
  const reply = await service.replica.query(volume, 'listApiKeys', argument, { sender: owner });
  const [outcome] = IDL.decode([ResultApiKeys], reply) as unknown as [
    { ok: { createdAt: bigint }[] },
  ];
  return outcome.ok;
}

describe.each([['a front with two volumes'], ['a volume without a front']])(
  'the Azle canister of backend.md with %s',
  (name) => {
    let backend: Backend;
    let volume: Principal;
    let key: UserKey;

    beforeAll(async () => {
      backend = await Backend.install();
    });

    const there = () => services.get(name) ?? expect.fail();

    test('open fails until updateAccess allows the canister', async () => {
      await expect(backend.open(there().id)).rejects.toThrow('AccessDenied');
      await backend.admit(ada);
      await expect(backend.call(ada, 'createKey')).rejects.toThrow('call open first');
      await allow(there().id, backend.id);
    });

    test('open creates the bucket and finds its volume, also when it is repeated', async () => {
      volume = await backend.open(there().id);
      expect(there().volumes.map(String)).toContain(String(volume));
      expect(await backend.open(there().id)).toEqual(volume);
      expect(await listedKeys(volume, backend.id)).toEqual([]);
    });

    test('open, admit, createKey and createLink refuse others', async () => {
      await expect(backend.call(ada, 'open', there().id)).rejects.toThrow('Only a controller');
      await expect(backend.call(ada, 'admit', eve)).rejects.toThrow('Only a controller');
      await expect(backend.call(eve, 'createKey')).rejects.toThrow('is not a user');
      await expect(backend.call(eve, 'createLink', 'a')).rejects.toThrow('is not a user');
      const anybody = Principal.anonymous();
      await expect(backend.call(anybody, 'createKey')).rejects.toThrow('is not a user');
      expect(await listedKeys(volume, backend.id)).toEqual([]);
    });

    test('createKey returns one key with a prefix, an end and a budget', async () => {
      const before = BigInt(Date.now()) * 1_000_000n;
      key = await backend.call(ada, 'createKey');
      expect(key).toMatchObject({ volume, bucket: 'app', prefix: `users/${ada}/` });
      expect(await backend.call(ada, 'createKey')).toEqual(key);
      const [listed, ...others] = await listedKeys(volume, backend.id);
      expect(others).toEqual([]);
      expect(key.expiresAt - (listed?.createdAt ?? 0n)).toBeLessThanOrEqual(15n * minuteNs);
      expect(listed).toMatchObject({
        prefix: [key.prefix],
        permissions: ['read', 'write'],
        createdBy: [backend.id],
        expiresAt: [key.expiresAt],
        updatesPerHour: [200n],
        bytesPerHour: [200_000_000n],
      });
      expect(key.expiresAt).toBeGreaterThan(before);
    });

    test('createKey gives a right to the own folder over HTTP, and to no other', async () => {
      const path = `${key.prefix}notes.txt`;
      expect((await send(key, 'PUT', path, 'hello')).status).toBe(201);
      const read = await exchangeWith(service.replica.url, `${volume}.localhost`, {
        method: 'GET',
        path: `/cloud/app/${path}`,
        headers: { Authorization: `Bearer ${key.secret}` },
      });
      expect([read.status, String(read.body)]).toEqual([200, 'hello']);
      await backend.admit(ben);
      const other = await backend.call<UserKey>(ben, 'createKey');
      for (const [method, body] of [['PUT', 'x'], ['GET'], ['DELETE']]) {
        const refused = await send(other, method ?? '', path, body);
        expect([method, refused.status]).toEqual([method, 403]);
      }
      const outside = ['notes.txt', 'users/notes.txt', `users/${ada}.txt`, `users/${ada}`];
      for (const target of outside) {
        expect((await send(key, 'PUT', target, 'x')).status, target).toBe(403);
      }
      expect((await send(key, 'DELETE', path)).status).toBe(403);
    });

    test('createLink gives a stranger a file of the caller, and of nobody else', async () => {
      const link = await backend.call<{ url: string }>(ada, 'createLink', 'notes.txt');
      const get = (path: string) =>
        exchangeWith(service.replica.url, `${volume}.localhost`, { method: 'GET', path });
      const shown = await get(link.url);
      expect([shown.status, String(shown.body)]).toEqual([200, 'hello']);
      const guessed = link.url.replace(/k=.*$/, `k=${'A'.repeat(22)}`);
      // The gateway does not pass on an answer without a proof.
      expect((await get(guessed)).status).toBe(503);
      const path = `../${ada}/notes.txt`;
      await expect(backend.call(ben, 'createLink', path)).rejects.toThrow('InvalidPath');
      await expect(backend.call(ben, 'createLink', 'notes.txt')).rejects.toThrow('NoSuchFile');
    });

    test('createKey makes one key for simultaneous requests', async () => {
      await backend.admit(eve);
      const asked = [0, 1].map(() => backend.call<UserKey>(eve, 'createKey'));
      const ended = await Promise.allSettled(asked);
      for (const end of ended) {
        if (end.status === 'rejected') expect(String(end.reason)).toContain('is being created');
      }
      expect(ended.map(({ status }) => status)).toContain('fulfilled');
      expect(await listedKeys(volume, backend.id)).toHaveLength(3);
    });
  },
);

test.each([
  ['a stranger', []],
  ['a writer', ['writer']],
])('open refuses a bucket of another owner that has the canister as %s', async (_, roles) => {
  const { replica, controller } = service;
  const id = await replica.createCanister({ controllers: [controller] });
  await replica.install(id, service.wasm);
  const created = async () => expect((await service.create('app', { at: id })).ok).toBeDefined();
  await vi.waitFor(created, { timeout: 60_000 });
  const backend = await Backend.install();
  await allow(id, backend.id);
  const Member = IDL.Record({ principal: IDL.Principal, role: Text });
  const Change = IDL.Record({ bucketId: Text, addMembers: IDL.Opt(IDL.Vec(Member)) });
  const members = roles.map((role) => ({ principal: backend.id, role }));
  const change = { bucketId: 'app', addMembers: [members] };
  await service.asked(id).call('updateBucket', [Change], [change]);
  await expect(backend.open(id)).rejects.toThrow('belongs to another principal');
});

describe('the interface in backend.md', () => {
  const did = readFileSync(join(projectDir, 'candid/file_storage.did'), 'utf8');
  const used = ['createBucket', 'listVolumes', 'getBucket', 'createApiKey', 'createLink'].sort();

  test('sourceOf finds the same methods in all languages', () => {
    const inAzle = sourceOf('ts').matchAll(/^ {2}(\w+): \{ takes:/gm);
    expect([...inAzle].map(([, method]) => method).sort()).toEqual(used);
    for (const { methods } of [motoko(), rust()]) expect([...methods.keys()].sort()).toEqual(used);
  });

  test.each([
    ['Motoko', motoko],
    ['Rust', rust],
  ])('candid/file_storage.did has the types of %s', (_, read) => {
    const { records, methods } = read();
    for (const [method, signature] of methods) expect(did).toContain(`${method}: ${signature}`);
    expect(records.size).toBe(7);
    for (const [record, fields] of records) {
      const declared = fieldsOf(did, record, /^ {2}(\w+): ([^;]+);$/gm);
      for (const [field, type] of fields) {
        expect(`${record}.${field}: ${type}`).toBe(`${record}.${field}: ${declared.get(field)}`);
      }
      const required = [...declared].filter(([, type]) => !type.startsWith('opt '));
      const missing = required.map(([field]) => field).filter((field) => !fields.has(field));
      if (record.endsWith('Request')) expect(missing).toEqual([]);
    }
  });
});

interface Interface {
  /** Types in Candid, by record and field. */
  readonly records: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Arguments and result in Candid. */
  readonly methods: ReadonlyMap<string, string>;
}

/** Returns the fields of a record of the interface. */
function fieldsOf(text: string, record: string, pattern: RegExp): Map<string, string> {
  const [, body = ''] = text.split(`\ntype ${record} = record {\n`);
  const [declared = ''] = body.split('\n};');
  return new Map([...declared.matchAll(pattern)].map(([, name = '', type = '']) => [name, type]));
}

function motoko(): Interface {
  const text = sourceOf('motoko');
  const records = [...text.matchAll(/^ {2}type (\w+) = \{([^#}]+)\};$/gm)];
  const methods = [...text.matchAll(/^ {4}(\w+) : \(([^)]*)\) -> async Answer<(.+)>;$/gm)];
  return interfaceOf(records, methods, /(\w+) : ([^;]+?)(?:;|\s*$)/gm);
}

function rust(): Interface {
  const text = sourceOf('rust');
  const records = [...text.matchAll(/^struct (\w+) \{([^}]+)\}$/gm)];
  const calls = [...text.matchAll(/ask::<\(([^)]*)\), ([\w<>]+)>\(\s*\w+,\s*"(\w+)"/g)];
  const methods = calls.map(([all, takes, ok, name]) => [all, name, takes, ok]);
  return interfaceOf(records, methods, /^ {4}(\w+): (.+),$/gm);
}

function interfaceOf(
  records: readonly (readonly (string | undefined)[])[],
  methods: readonly (readonly (string | undefined)[])[],
  field: RegExp,
): Interface {
  const own = /^User|^State$/;
  return {
    records: new Map(
      records.flatMap(([, name = '', body = '']) => {
        const fields = [...body.matchAll(field)];
        const types = fields.map(([, key = '', type = '']) => [key, candidOf(type)] as const);
        return own.test(name) ? [] : [[name, new Map(types)] as const];
      }),
    ),
    methods: new Map(
      methods.map(([, name = '', takes = '', ok = '']) => {
        const types = takes.split(',').filter((type) => type.trim() !== '');
        const given = types.map((type) => candidOf(type.trim())).join(', ');
        return [name, `(${given}) -> (variant {ok:${candidOf(ok)}; err:text})`];
      }),
    ),
  };
}

const words: Readonly<Record<string, string>> = {
  ...{ Text: 'text', String: 'text', '&str': 'text' },
  ...{ Nat: 'nat', Int: 'int', Principal: 'principal' },
};

/** Returns a type of Motoko or Rust in Candid. */
function candidOf(type: string): string {
  const [, optional] = /^(?:\?|Option<)(.+?)>?$/.exec(type) ?? [];
  if (optional !== undefined) return `opt ${candidOf(optional)}`;
  const [, item] = /^(?:\[|Vec<)(.+)[\]>]$/.exec(type) ?? [];
  return item === undefined ? (words[type] ?? type) : `vec ${candidOf(item)}`;
}
