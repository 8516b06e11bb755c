// A change is certified in the message that makes it, and the former state is no longer certified.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CanisterAnswer } from '../../packages/replica/src/gateway/candid-messages.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { type AskedRequest, verdictOn } from '../support/certification/verdict.ts';
import { sampleBytes } from '../support/service.ts';

let canister: CertifiedCanister;

beforeAll(async () => {
  canister = await openCertifiedCanister();
});

afterAll(() => canister?.stop());

const cloud = (path: string) => ({ url: `/cloud/demo/${path}` });

async function textOf(request: AskedRequest): Promise<string> {
  const { status, body } = await canister.accepted(request);
  return `${status} ${Buffer.from(body).toString()}`;
}

const certificatePattern = /certificate=:[^:]*:/;

/** Returns the old answer with the present certificate. */
async function outdated(request: AskedRequest, old: CanisterAnswer): Promise<CanisterAnswer> {
  const now = await canister.ask({ url: '/' });
  const headerOf = ({ headers }: CanisterAnswer) =>
    headers.find(([name]) => name === 'IC-Certificate')?.[1] ?? '';
  const certificate = certificatePattern.exec(headerOf(now))?.[0] ?? expect.fail('no certificate');
  const header = headerOf(old).replace(certificatePattern, certificate);
  const headers = old.headers.filter(([name]) => name !== 'IC-Certificate');
  const answer = { ...old, headers: [...headers, ['IC-Certificate', header] as const] };
  const { refusal } = verdictOn(request, old, canister.context());
  expect(refusal, 'the old answer with its own certificate').toBeUndefined();
  return answer;
}

async function expectOutdated(request: AskedRequest, old: CanisterAnswer): Promise<void> {
  const answer = await outdated(request, old);
  expect(verdictOn(request, answer, canister.context()).refusal).toBeDefined();
}

test('http_request: a file is certified from its commit until it is replaced or deleted', async () => {
  const missing = await canister.accepted(cloud('x'));
  await canister.put('x', Buffer.from('one'));
  expect(await textOf(cloud('x'))).toBe('200 one');
  await expectOutdated(cloud('x'), missing);
  const first = await canister.accepted(cloud('x'));
  await canister.put('x', Buffer.from('two'));
  expect(await textOf(cloud('x'))).toBe('200 two');
  await expectOutdated(cloud('x'), first);
  const second = await canister.accepted(cloud('x'));
  await canister.remove('x');
  expect((await canister.accepted(cloud('x'))).status).toBe(404);
  await expectOutdated(cloud('x'), second);
});

test('http_request: files of one part, of several parts and empty ones replace each other', async () => {
  const parts = [sampleBytes('one', 65_536), sampleBytes('two', 5)];
  const range = { ...cloud('y'), headers: [['Range', 'bytes=65536-']] } as const;
  for (let turn = 0; turn < 2; turn++) {
    await canister.putParts('y', parts);
    expect((await canister.accepted(cloud('y'))).status).toBe(206);
    const part = await canister.accepted(range);
    expect(Buffer.from(part.body)).toEqual(Buffer.from(parts[1] ?? []));
    await canister.put('y', Buffer.from('small'));
    expect(await textOf(cloud('y'))).toBe('200 small');
    await expectOutdated(range, part);
    await canister.put('y', new Uint8Array(0));
    expect(await textOf(cloud('y'))).toBe('200 ');
  }
});

test('http_request: a bucket made private loses its certified answers, and made public gets all of them back', async () => {
  await canister.put('dir/a', Buffer.from('a'));
  await canister.put('dir/b', Buffer.from('b'));
  const shown = await canister.accepted(cloud('dir/a'));
  await canister.showBucket('demo', false);
  const hidden = await canister.accepted(cloud('dir/a'));
  expect(hidden.status).toBe(404);
  await expectOutdated(cloud('dir/a'), shown);
  // Changes of the private bucket take effect when it is public again.
  await canister.remove('dir/b');
  await canister.put('dir/c', Buffer.from('c'));
  await canister.put('dir/a', Buffer.from('new'));
  expect((await canister.accepted(cloud('dir/c'))).status).toBe(404);
  await canister.showBucket('demo', true);
  expect(await textOf(cloud('dir/a'))).toBe('200 new');
  expect(await textOf(cloud('dir/c'))).toBe('200 c');
  expect((await canister.accepted(cloud('dir/b'))).status).toBe(404);
  await expectOutdated(cloud('dir/a'), hidden);
});

test('http_request: all answers are still certified after an upgrade', async () => {
  await canister.put('kept', Buffer.from('kept'));
  await canister.createBucket('closed');
  await canister.showBucket('closed', false);
  await canister.upgrade();
  // An update waits until keys are available again.
  await canister.change({ ...cloud('kept'), headers: [['Range', 'bytes=0-0']] });
  expect(await textOf(cloud('kept'))).toBe('200 kept');
  expect((await canister.accepted(cloud('none'))).status).toBe(404);
  expect((await canister.accepted({ url: '/cloud/closed/x' })).status).toBe(404);
  expect((await canister.accepted({ url: '/api/v1/status' })).status).toBe(200);
});

test('http_request: a private file is served uncertified with a key, and is missing without one', async () => {
  await canister.put('secret', Buffer.from('s'));
  await canister.showBucket('demo', false);
  const headers = [['Authorization', `Bearer ${canister.apiKey}`]] as const;
  expect(await textOf({ ...cloud('secret'), headers })).toBe('200 s');
  expect((await canister.accepted(cloud('secret'))).status).toBe(404);
  await canister.showBucket('demo', true);
});
