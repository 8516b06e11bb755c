// The texts at /.well-known/ by which programs find the canisters of a service, at a front and at a
// volume: certified, current after each change, and replaceable by a controller.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AskedCanister } from '../support/certification/asked-canister.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { type OpenedFront, openFront } from '../support/certification/opened-front.ts';
import { noArguments } from '../support/network/network-interface.ts';
import { projectDir } from '../tidy/source-tree.ts';

const architecture = '/.well-known/ic-architecture';
const derivation = '/.well-known/ii-derivation-origin';
const [one = '', two = ''] = ['rrkah-fqaaa-aaaaa-aaaaq-cai', 'ryjl3-tyaaa-aaaaa-aaaba-cai'];

let front: OpenedFront;
let volume: CertifiedCanister;

beforeAll(async () => {
  front = await openFront();
  volume = await openCertifiedCanister();
});

afterAll(async () => {
  await front?.stop();
  await volume?.stop();
});

/** Returns the text if the official verifier accepts it, and pages of all origins may read it. */
async function textAt(canister: AskedCanister, url: string, type: string): Promise<string> {
  const { status, headers, body } = await canister.accepted({ url });
  expect([url, status]).toEqual([url, 200]);
  expect(headers).toContainEqual(['Access-Control-Allow-Origin', '*']);
  expect(headers).toContainEqual(['Content-Type', type]);
  return Buffer.from(body).toString();
}

async function listedBy(canister: AskedCanister): Promise<[id: string, role: string][]> {
  const text = await textAt(canister, architecture, 'application/json');
  const { version, canisters } = JSON.parse(text);
  expect(version).toBe('1.0.0');
  for (const { name, description } of canisters) {
    expect(name).toMatch(/^(?:front|volume|volume-\d+)$/);
    expect(description).toContain('getApiDoc');
  }
  return canisters.map(({ id, role }: { id: string; role: string }) => [id, role]);
}

const Content = IDL.Opt(IDL.Record({ body: IDL.Text }));
const Change = IDL.Record({ name: IDL.Text, content: Content });

/** Without `body` removes the text. */
async function setText(canister: AskedCanister, name: string, body?: string): Promise<void> {
  const content = body === undefined ? [] : [{ body }];
  await canister.call('setWellKnown', [Change], [{ name, content }]);
}

const changeVolume = (method: 'addVolume' | 'removeVolume', id: string) =>
  front.call(method, [IDL.Principal], [Principal.fromText(id)]);

describe('GET /.well-known/ic-architecture', () => {
  test('at a front lists it and its volumes, as they are added and removed', async () => {
    const own = [front.canisterId.toText(), 'front'];
    expect(await listedBy(front)).toEqual([own]);
    await changeVolume('addVolume', one);
    expect(await listedBy(front)).toEqual([own, [one, 'volume']]);
    await changeVolume('addVolume', two);
    await changeVolume('removeVolume', one);
    expect(await listedBy(front)).toEqual([own, [two, 'volume']]);
    await front.upgrade();
    expect(await listedBy(front)).toEqual([own, [two, 'volume']]);
  });

  test('at a volume lists it and its front, as that is set and removed', async () => {
    const own = [volume.canisterId, 'volume'];
    expect(await listedBy(volume)).toEqual([own]);
    await volume.upgrade();
    expect(await listedBy(volume)).toEqual([own]);
    const Setting = IDL.Record({ front: IDL.Principal });
    const setFront = (value: object[]) => volume.call('setFront', [IDL.Opt(Setting)], [value]);
    await setFront([{ front: Principal.fromText(two) }]);
    expect(await listedBy(volume)).toEqual([own, [two, 'front']]);
    await volume.upgrade();
    expect(await listedBy(volume)).toEqual([own, [two, 'front']]);
    await setFront([]);
    expect(await listedBy(volume)).toEqual([own]);
  });

  test('is the text of a controller until it is removed, whatever volumes are added', async () => {
    const before = await listedBy(front);
    const app = '{"version":"1.0.0","canisters":[]}';
    await setText(front, 'ic-architecture', app);
    expect(await textAt(front, architecture, 'application/json')).toBe(app);
    await changeVolume('addVolume', one);
    await front.upgrade();
    expect(await textAt(front, architecture, 'application/json')).toBe(app);
    await setText(front, 'ic-architecture');
    expect(await listedBy(front)).toEqual([...before, [one, 'volume']]);
    await changeVolume('removeVolume', one);
  });
});

describe('getApiDoc', () => {
  test('returns the guide at a front and a volume, for a few instructions', async () => {
    const text = await readFile(join(projectDir, 'candid', 'api-doc.md'), 'utf8');
    for (const { network, replica, canisterId } of [front, volume]) {
      const reply = await network.query(`${canisterId}`, 'getApiDoc', noArguments);
      expect(IDL.decode([IDL.Text], reply)).toEqual([text]);
      if (replica === undefined) continue;
      const report = replica.reports.at(-1);
      expect(report?.method).toBe('getApiDoc');
      expect(report?.instructions).toBeLessThan(1_000_000n);
    }
  });
});

describe('GET /.well-known/ii-derivation-origin', () => {
  const plain = 'text/plain; charset=utf-8';

  test('at a front is its origin at the default gateway, or the text of a controller', async () => {
    const own = `https://${front.canisterId.toText()}.icp.net\n`;
    expect(await textAt(front, derivation, plain)).toBe(own);
    await setText(front, 'ii-derivation-origin', 'https://files.example.org');
    expect(await textAt(front, derivation, plain)).toBe('https://files.example.org');
    await setText(front, 'ii-derivation-origin');
    expect(await textAt(front, derivation, plain)).toBe(own);
  });

  test('at a volume does not exist', async () => {
    expect((await volume.accepted({ url: derivation })).status).toBe(404);
  });
});

describe('GET /.well-known/webmcp.json', () => {
  const tools = '/.well-known/webmcp.json';

  test('has the id of the canister, for fewer instructions than an update', async () => {
    for (const canister of [front, volume]) {
      const { canister: described } = JSON.parse(await textAt(canister, tools, 'application/json'));
      expect(described.id).toBe(`${canister.canisterId}`);
      if (canister.replica === undefined) continue;
      expect(canister.replica.reports.at(-1)?.instructions).toBeLessThan(20_000_000n);
    }
  });

  test('is the text of a controller until it is removed', async () => {
    for (const canister of [front, volume]) {
      const own = await textAt(canister, tools, 'application/json');
      await setText(canister, 'webmcp.json', '{"tools":[]}');
      expect(await textAt(canister, tools, 'application/json')).toBe('{"tools":[]}');
      await setText(canister, 'webmcp.json');
      expect(await textAt(canister, tools, 'application/json')).toBe(own);
    }
  });
});
