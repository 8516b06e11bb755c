// A malicious node: true answers with a change, and answers to another request. The official
// verifier refuses each of them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';
import { type Exchange, expectRefusals } from '../support/certification/lies.ts';
import { type AskedRequest, verdictOn } from '../support/certification/verdict.ts';
import { sampleBytes } from '../support/service.ts';

let canister: CertifiedCanister;

let exchanges: Exchange[];
/** The answer of a former version of the file. */
let outdated: Exchange;

async function collect(): Promise<Exchange[]> {
  const tagOf = async (url: string) => {
    const { headers } = await canister.ask({ url });
    return headers.find(([name]) => name === 'ETag')?.[1] ?? expect.fail('no tag');
  };
  const requests: AskedRequest[] = [];
  for (const url of ['/cloud/demo/a', '/cloud/demo/dir/b', '/cloud/demo/large']) {
    const tag = await tagOf(url);
    requests.push({ url }, { method: 'HEAD', url }, { method: 'OPTIONS', url });
    requests.push({ url, headers: [['if-none-match', tag]] });
    requests.push({ method: 'HEAD', url, headers: [['if-none-match', `W/${tag}`]] });
    requests.push({ url, headers: [['Range', 'bytes=0-']] });
  }
  requests.push({ url: '/cloud/demo/large', headers: [['Range', 'bytes=65536-']] });
  requests.push({ url: '/cloud/demo/none' }, { url: '/' }, { method: 'OPTIONS', url: '/' });
  const collected: Exchange[] = [];
  for (const request of requests) {
    collected.push({ request, answer: await canister.accepted(request) });
  }
  return collected;
}

beforeAll(async () => {
  canister = await openCertifiedCanister();
  const plain = { url: '/cloud/demo/a' };
  await canister.put('a', Buffer.from('old'));
  outdated = { request: plain, answer: await canister.accepted(plain) };
  await canister.put('a', Buffer.from('hello'));
  await canister.put('dir/b', Buffer.from('hello world'));
  await canister.putParts('large', [sampleBytes('first', 65_536), sampleBytes('second', 500)]);
  exchanges = await collect();
});

afterAll(() => canister?.stop());

const nowhere = ['/', '/cloud/demo/none'];
const isFixed = ({ url, method }: AskedRequest) => method !== 'OPTIONS' && nowhere.includes(url);

/**
 * Returns whether the answer to `answered` is also right for `request`, because it does not depend
 * on their difference.
 */
function isRight(request: AskedRequest, answered: AskedRequest): boolean {
  if (isFixed(answered)) return request.url === answered.url;
  const methodOf = ({ method = 'GET' }: AskedRequest) => method;
  const isSame = request.url === answered.url && methodOf(request) === methodOf(answered);
  // A range of a file of one part is answered by the whole file
  const isRange = answered.headers?.[0]?.[0] === 'Range' && answered.url !== '/cloud/demo/large';
  return request === answered || (isSame && (answered.headers === undefined || isRange));
}

test('http_request: the verifier accepts every unchanged answer', () => {
  expect(exchanges.length).toBeGreaterThan(20);
  for (const { request, answer } of [...exchanges]) {
    expect(verdictOn(request, answer, canister.context()).refusal).toBeUndefined();
  }
});

test('http_request: the verifier refuses 1,000 changed and swapped answers', () => {
  expectRefusals(
    { exchanges, outdated, isRight, isFixed },
    { seed: 20_261_121, count: 1_000, context: canister.context },
  );
});
