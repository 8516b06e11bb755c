// A volume with a front: no script runs at the volume's own address, and the rest is unchanged.

import { readFile } from 'node:fs/promises';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { newIdentity, principalOf } from '../../scripts/local-service.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { roleArgument } from '../support/certification/opened-front.ts';

let volume: CertifiedCanister;
const front = Principal.fromText('ryjl3-tyaaa-aaaaa-aaaba-cai');
const FrontSetting = IDL.Record({ front: IDL.Principal, url: IDL.Opt(IDL.Text) });

beforeAll(async () => {
  volume = await openCertifiedCanister();
  await volume.put('a', Buffer.from('hello'));
});
afterAll(() => volume?.stop());

const setFront = (url?: string) =>
  volume.call(
    'setFront',
    [IDL.Opt(FrontSetting)],
    [[{ front, url: url === undefined ? [] : [url] }]],
  );

const removeFront = () => volume.call('setFront', [IDL.Opt(FrontSetting)], [[]]);

async function textAt(url: string): Promise<string> {
  return Buffer.from((await volume.accepted({ url })).body).toString();
}

describe('setFront', () => {
  test('replaces the console by a page without script that links to the front', async () => {
    const asset = /\/assets\/[^"]+\.js/.exec(await textAt('/'))?.[0] ?? expect.fail('no script');
    expect((await volume.accepted({ url: asset })).status).toBe(200);
    await setFront();
    const page = await textAt('/');
    expect(page).toContain(`<a href="https://${front.toText()}.icp.net/">`);
    expect(page).toContain(`<a href="http://${front.toText()}.localhost:8000/">`);
    expect(page).not.toContain('<script');
    expect(page.length).toBeLessThan(600);
    expect((await volume.accepted({ url: asset })).status).toBe(404);
    expect(JSON.parse(await textAt('/.well-known/efs-service'))).toEqual({
      role: 'volume',
      canisterId: volume.canisterId,
      front: { canisterId: front.toText(), url: `https://${front.toText()}.icp.net` },
    });
    expect(await textAt('/cloud/demo/a')).toBe('hello');
  });

  test('survives an upgrade, and restores the console when the front is removed', async () => {
    await setFront('http://localhost:4943');
    await volume.upgrade();
    expect(await textAt('/')).toContain('href="http://localhost:4943/"');
    await removeFront();
    expect(await textAt('/')).toContain('/assets/');
    await volume.upgrade();
    expect(JSON.parse(await textAt('/.well-known/efs-service'))).toEqual({
      role: 'volume',
      canisterId: volume.canisterId,
      front: null,
    });
  });

  test.each([
    'http://files.example.com',
    'https://files.example.com/',
    'https://a"onclick=',
    'javascript:alert(1)',
    `https://${'a'.repeat(100)}.com`,
    'https://FILES.example.com',
  ])('refuses the URL %s and keeps the current one', async (url) => {
    await setFront('https://files.example.com');
    await expect(setFront(url)).rejects.toThrow("InvalidArgument: The front's URL is an origin");
    expect(await textAt('/')).toContain('href="https://files.example.com/"');
  });

  test('requires a controller', async () => {
    const argument = new Uint8Array(IDL.encode([IDL.Opt(FrontSetting)], [[]]));
    const reply = await volume.network.call(volume.canisterId, 'setFront', argument);
    const [outcome] = IDL.decode([IDL.Variant({ ok: IDL.Null, err: IDL.Text })], reply);
    expect(outcome).toMatchObject({ err: expect.stringMatching('AccessDenied: Only controllers') });
  });
});

test('http_request: OPTIONS is answered at every page, with and without a front', async () => {
  const asset = async () => /\/assets\/[^"]+\.js/.exec(await textAt('/'))?.[0] ?? '/assets/none';
  for (const set of [() => setFront(), removeFront]) {
    await set();
    for (const url of ['/', await asset(), '/.well-known/efs-service', '/cloud/demo/a', '/none']) {
      const { status } = await volume.accepted({ method: 'OPTIONS', url });
      expect([url, status]).toEqual([url, 204]);
    }
  }
});

test('GET /s of an age file redirects only browsers to the front', async () => {
  const order = { method: 'POST', url: '/api/v1/bucket/demo/links' };
  const age = Buffer.from('age-encryption.org/v1\n-> X25519 abc\n');
  await volume.put('letter', age, [['content-type', 'application/age']]);
  const made = await volume.change({ ...order, body: Buffer.from('{"path":"letter"}') });
  const { url } = JSON.parse(Buffer.from(made.body).toString());
  const shown = { url, headers: [['Sec-Fetch-Dest', 'document']] as const };
  const expectFile = async (request: object) =>
    expect(Buffer.compare((await volume.accepted({ url, ...request })).body, age)).toBe(0);
  await expectFile(shown);
  await setFront();
  await expectFile({});
  expect((await volume.ask(shown)).isUpgrade).toBe(true);
  const { status, headers } = await volume.change(shown);
  const place = `https://${front.toText()}.icp.net/s/${volume.canisterId}${url.slice('/s'.length)}`;
  expect(status).toBe(307);
  expect(headers).toContainEqual(['Location', place]);
  await removeFront();
  await expectFile(shown);
});

test('addVolume is refused by a volume', async () => {
  await expect(volume.call('addVolume', [IDL.Principal], [front])).rejects.toThrow(
    'InvalidArgument: This canister is a volume, which has no volumes: call the front.',
  );
});

test('setWellKnown refuses the text efs-service', async () => {
  await expect(volume.setWellKnown('efs-service', '{}')).rejects.toThrow(
    'The canister writes /.well-known/efs-service by itself',
  );
});

test('http_request: canisters of one project find each other through environment variables', async () => {
  const { wasmPath } = await buildCanister({ force: false });
  const wasm = new Uint8Array(await readFile(wasmPath));
  const replica = await startReplica({ server: false });
  const sender = principalOf(newIdentity());
  const [one, two] = await Promise.all(
    [1, 2].map(() => replica.createCanister({ controllers: [sender] })),
  );
  if (one === undefined || two === undefined) throw new Error('no canisters');
  const Variable = IDL.Record({ name: IDL.Text, value: IDL.Text });
  const Settings = IDL.Record({ environment_variables: IDL.Opt(IDL.Vec(Variable)) });
  const Update = IDL.Record({ canister_id: IDL.Principal, settings: Settings });
  const variables = [
    { name: 'PUBLIC_CANISTER_ID:file_storage', value: one.toText() },
    { name: 'PUBLIC_CANISTER_ID:front', value: two.toText() },
  ];
  for (const canister_id of [one, two]) {
    const settings = { environment_variables: [variables] };
    const update = new Uint8Array(IDL.encode([Update], [{ canister_id, settings }]));
    await replica.call('aaaaa-aa', 'update_settings', update, { sender });
  }
  await replica.install(one, wasm, undefined, { sender });
  await replica.install(two, wasm, roleArgument({ front: null }), { sender });
  const Role = IDL.Variant({
    volume: IDL.Record({ front: IDL.Opt(FrontSetting) }),
    front: IDL.Record({ volumes: IDL.Vec(IDL.Principal) }),
  });
  const Status = IDL.Variant({ ok: IDL.Record({ role: IDL.Opt(Role) }), err: IDL.Text });
  const roleOf = async (id: Principal) => {
    const [shown] = IDL.decode([Status], await replica.query(id, 'getStatus'));
    return (shown as { ok?: { role: unknown } }).ok?.role;
  };
  expect(await roleOf(one)).toEqual([
    { volume: { front: [{ front: two, url: [`https://${two.toText()}.icp.net`] }] } },
  ]);
  expect(await roleOf(two)).toEqual([{ front: { volumes: [one] } }]);
  await replica.stop();
});
