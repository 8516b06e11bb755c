// A proof of absence shows the labels on both sides of the gap. No proof may contain a label of a
// private bucket: its id, a file's name, or a hash of them; and the tree of answers must equal the
// one without the bucket.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeSelfDescribed } from '../../packages/replica/src/state/self-described-cbor.ts';
import { buildCanister } from '../../scripts/build.ts';
import { changeOf, keyFor, openPerson, type Person } from '../support/people.ts';
import { exchangeWith } from '../support/raw-exchange.ts';
import { openService, type Service } from '../support/service.ts';

let service: Service;
let owner: Person;
let secret: string;
const hidden = 'middle';
const files = ['secret-plan.txt', 'folder/other.txt'];
const publicFiles = ['a.txt', 'zz.txt'];

/** Addresses next to those of the bucket, of its files and of public data. */
const paths = ['/', '/cloud', '/cloud/', '/api/v1/status', `/api/v1/bucket/${hidden}/files`].concat(
  ['middld', 'middle', 'middlf', 'middl', 'middle0', 'unknown', 'A', '~'].flatMap((bucket) => [
    `/cloud/${bucket}`,
    `/cloud/${bucket}/x`,
    `/cloud/${bucket}/${files[0]}`,
    `/cloud/${bucket}/folder/x`,
  ]),
  ['demo/', 'demo/a.txt', 'demo/b', 'demo/secret-plan.tx', `demo/${files[0]}`, 'demo/folder/x'].map(
    (path) => `/cloud/${path}`,
  ),
);

beforeAll(async () => {
  service = await openService();
  owner = await openPerson(service, 'owner');
  for (const name of publicFiles) await put(service.bucket, name, service.apiKey);
});

afterAll(() => service?.stop());

async function put(bucket: string, name: string, key: string): Promise<void> {
  const url = `${service.base}/api/v1/bucket/${bucket}/files/${name}`;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'text/plain' };
  expect((await fetch(url, { method: 'PUT', headers, body: 'x' })).status).toBe(201);
}

type Tree = readonly [kind: number, ...rest: unknown[]];

/** Yields the labels and leaf values that a hash tree reveals (IC spec, "Certificate encoding"). */
function* shownBy([kind, one, other]: Tree): Generator<Buffer> {
  if (kind === 1) {
    yield* shownBy(one as Tree);
    yield* shownBy(other as Tree);
  }
  if (kind === 2) {
    yield Buffer.from(one as Uint8Array);
    yield* shownBy(other as Tree);
  }
  if (kind === 3) yield Buffer.from(one as Uint8Array);
}

interface Proof {
  readonly tree: string;
  readonly shown: readonly Buffer[];
}

async function proofOf(method: string, path: string): Promise<Proof> {
  const { status, headers } = await exchangeWith(service.base, 'localhost', { method, path });
  expect(status, `${method} ${path}`).toBeLessThan(500);
  const field = headers['ic-certificate'] ?? expect.fail(`no proof of ${method} ${path}`);
  const [tree = '', expression = ''] = ['tree', 'expr_path'].map(
    (name) => new RegExp(`${name}=:([^:]*):`).exec(field)?.[1],
  );
  const parse = (text: string) => decodeSelfDescribed(new Uint8Array(Buffer.from(text, 'base64')));
  const names = (parse(expression) as string[]).map((name) => Buffer.from(name));
  const whole = parse(tree) as Tree;
  return { tree: answersIn(whole), shown: [...shownBy(whole)].concat(names) };
}

/**
 * Returns the part of the tree about answers. The end of the journal is pruned beside it: one hash,
 * which changes with each entry and contains nothing of it.
 */
function answersIn([kind, answers, journal]: Tree): string {
  expect(kind).toBe(1);
  expect((journal as Tree)[0]).toBe(4);
  return JSON.stringify(answers);
}

async function allProofs(): Promise<Map<string, Proof>> {
  const proofs = new Map<string, Proof>();
  for (const path of paths) {
    const methods = ['GET', 'HEAD', 'OPTIONS'];
    const found = await Promise.all(methods.map((method) => proofOf(method, path)));
    found.forEach((proof, index) => {
      proofs.set(`${methods[index]} ${path}`, proof);
    });
  }
  return proofs;
}

const secrets = [hidden, ...files, ...files.flatMap((name) => name.split('/'))].flatMap((name) => [
  Buffer.from(name),
  createHash('sha256').update(name).digest(),
  createHash('sha256').update(`${hidden}/${name}`).digest(),
]);

/**
 * Even a label in the request must not occur in a proof, because that would reveal its existence.
 */
function expectNothingHidden(proofs: ReadonlyMap<string, Proof>): void {
  for (const [name, { shown }] of proofs) {
    expect(shown.length, name).toBeGreaterThan(0);
    const told = shown.filter((label) => secrets.some((secret) => label.includes(secret)));
    expect(told.map(String), name).toEqual([]);
  }
}

function treesOf(proofs: ReadonlyMap<string, Proof>): string[][] {
  return [...proofs].map(([name, { tree }]) => [name, tree]);
}

describe('no proof shows a private bucket', () => {
  let before: Map<string, Proof>;

  test('after it and its first files are created', async () => {
    before = await allProofs();
    await owner.get('createBucket', hidden, []);
    ({ secret } = await owner.get<{ secret: string }>('createApiKey', keyFor([hidden])));
    for (const name of files) await put(hidden, name, secret);
    const proofs = await allProofs();
    expectNothingHidden(proofs);
    expect(treesOf(proofs)).toEqual(treesOf(before));
  });

  test('after it was public for a while and received another upload', async () => {
    await owner.get('updateBucket', changeOf(hidden, { isPublic: [true] }));
    const shown = await proofOf('GET', `/cloud/${hidden}/none`);
    expect(shown.shown.map(String), 'while it is public').toContain(hidden);
    await owner.get('updateBucket', changeOf(hidden, { isPublic: [false] }));
    await put(hidden, 'more.txt', secret);
    const proofs = await allProofs();
    expectNothingHidden(proofs);
    expect(treesOf(proofs)).toEqual(treesOf(before));
  });

  test('after an upgrade', async () => {
    const wasm = await readFile((await buildCanister({ force: false })).wasmPath);
    await service.network.upgrade(service.canisterId, new Uint8Array(wasm));
    const proofs = await allProofs();
    expectNothingHidden(proofs);
    expect(treesOf(proofs)).toEqual(treesOf(before));
  });

  test('after it was deleted', async () => {
    for (const name of [...files, 'more.txt']) await owner.get('deleteFile', hidden, name, []);
    await owner.get('deleteBucket', hidden, []);
    const proofs = await allProofs();
    expectNothingHidden(proofs);
    expect(treesOf(proofs)).toEqual(treesOf(before));
  });
});
