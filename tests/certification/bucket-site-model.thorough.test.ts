// Random changes of a bucket that is sometimes a site, on the real Wasm: every address of a small
// set is answered as a plain reference model predicts, and the official verifier accepts the
// answer. While the files are renewed, each answer is proven, and is the former or the new one.

import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ReferenceBucket,
  type ReferenceReply,
  referenceReply,
} from '../support/certification/bucket-site-reference.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { seedsOr } from '../support/seed.ts';

let canister: CertifiedCanister;

beforeAll(async () => {
  canister = await openCertifiedCanister();
});

afterAll(() => canister?.stop());

const paths = [
  'index.html',
  '404.html',
  'a',
  'a/index.html',
  'a/b',
  'a/b/index.html',
  'x:y/index.html',
  'noindex.html',
  'a.html',
  'a/b.html',
  'index.html.html',
];
const addresses = paths
  .map((path) => `/${path}`)
  .concat(['', '/', '/a/', '/a/b/', '/x:y', '/x:y/', '/none', '/a/none', '/a/b/none/', '/no'])
  .concat(['/noindex', '/index', '/a/index', '/404', '/noindex/', '/a.html/', '/.html']);

type Operation =
  | { readonly kind: 'put' | 'remove'; readonly path: string }
  | { readonly kind: 'move'; readonly path: string; readonly to: string }
  | { readonly kind: 'site' | 'show'; readonly isOn: boolean }
  | { readonly kind: 'upgrade' };

const path = fc.constantFrom(...paths);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ kind: fc.constant('put' as const), path }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('remove' as const), path }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('move' as const), path, to: path }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('site' as const), isOn: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('show' as const), isOn: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'upgrade' as const }) },
);

async function replyAt(address: string): Promise<ReferenceReply> {
  const url = `/cloud/demo${address}`;
  const { status, headers, body } = await canister.accepted({ url });
  const field = (sought: string) =>
    headers.find(([name]) => name.toLowerCase() === sought)?.[1] ?? '';
  const policy = field('content-security-policy');
  if (status === 308) return { status, text: field('location'), policy };
  const text = Buffer.from(body).toString();
  return { status, text: text.includes('"NoSuchFile"') ? 'NoSuchFile' : text, policy };
}

const replies = (bucket: ReferenceBucket) =>
  addresses.map((address) => referenceReply(bucket, address));

/**
 * Expects each answer to be that of `before` or `after` at any moment, and finally that of `after`.
 * For a bucket that was hidden, the other value of `isSite` replaces `before`.
 */
async function expectSettled(before: ReferenceBucket, after: ReferenceBucket): Promise<void> {
  const expected = replies(after);
  const old = replies(before.isPublic ? before : { ...after, isSite: !after.isSite });
  // Until the index.html of a folder is certified for the site, 404.html may answer.
  const page = referenceReply({ ...after, isSite: true }, '/nothing');
  for (let turn = 0; turn < 200; turn++) {
    const found: ReferenceReply[] = [];
    for (const [index, address] of addresses.entries()) {
      const reply = await replyAt(address);
      found.push(reply);
      expect([old[index], expected[index], page], address).toContainEqual(reply);
    }
    if (JSON.stringify(found) === JSON.stringify(expected)) return;
    // Lets the canister's timers run
    await setTimeout(2);
  }
  expect(await Promise.all(addresses.map(replyAt))).toEqual(expected);
}

/** Applies the operation to the service and to the reference model, and returns the new model. */
async function run(
  reference: ReferenceBucket,
  operation: Operation,
  text: string,
): Promise<ReferenceBucket> {
  const files = new Map(reference.files);
  switch (operation.kind) {
    case 'put':
      await canister.put(operation.path, Buffer.from(text), [['content-type', 'text/html']]);
      return { ...reference, files: files.set(operation.path, text) };
    case 'remove':
      if (files.delete(operation.path)) await canister.remove(operation.path);
      return { ...reference, files };
    case 'move': {
      const moved = files.get(operation.path);
      if (moved === undefined || operation.path === operation.to) return reference;
      await canister.move(operation.path, operation.to);
      files.delete(operation.path);
      return { ...reference, files: files.set(operation.to, moved) };
    }
    case 'site':
      if (operation.isOn && !reference.isPublic) return reference;
      await canister.setSite('demo', operation.isOn);
      return { ...reference, isSite: operation.isOn };
    case 'show':
      await canister.showBucket('demo', operation.isOn);
      return { ...reference, isPublic: operation.isOn };
    case 'upgrade':
      await canister.upgrade();
      return reference;
  }
}

async function expectOptions(): Promise<void> {
  for (const address of addresses) {
    const request = { method: 'OPTIONS', url: `/cloud/demo${address}` };
    expect((await canister.accepted(request)).status, address).toBe(204);
  }
}

let reference: ReferenceBucket = { files: new Map(), isSite: false, isPublic: true };
let count = 0;

test.each(seedsOr(20_261_122))(
  'CertifiedSite: a site answers as the reference model does, certified, at every address, seed %i',
  async (seed) => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 8, maxLength: 24 }), async (operations) => {
        for (const each of operations) {
          const before = reference;
          reference = await run(reference, each, `text ${count++}`);
          await expectSettled(before, reference);
        }
        await expectOptions();
      }),
      { numRuns: 6, endOnFailure: true, seed },
    );
  },
  300_000,
);
