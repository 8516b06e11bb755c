// Texts at /.well-known/ on the real Wasm, checked by the official verifier: certified when they
// are set and after an upgrade, and a certified 404 for a missing text.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CanisterAnswer } from '../../packages/replica/src/gateway/candid-messages.ts';
import {
  type CertifiedCanister,
  openCertifiedCanister,
} from '../support/certification/certified-canister.ts';

let canister: CertifiedCanister;
const url = '/.well-known/ic-domains';
const domains = 'files.example.org\ndocs.example.org\n';

beforeAll(async () => {
  canister = await openCertifiedCanister();
});

afterAll(() => canister?.stop());

const textOf = ({ body }: CanisterAnswer) => Buffer.from(body).toString();
const field = ({ headers }: CanisterAnswer, sought: string) =>
  headers.find(([name]) => name.toLowerCase() === sought)?.[1];

test('setWellKnown: a text is certified at once, also at sites, until it is removed', async () => {
  expect((await canister.accepted({ url })).status).toBe(404);
  await canister.setWellKnown('ic-domains', domains);
  const answer = await canister.accepted({ url });
  expect(answer.status).toBe(200);
  expect(textOf(answer)).toBe(domains);
  expect(field(answer, 'content-type')).toBe('text/plain; charset=utf-8');
  expect(field(answer, 'access-control-allow-origin')).toBe('*');
  expect(field(answer, 'cache-control')).toBe('public, max-age=300');

  const etag = field(answer, 'etag') ?? expect.fail('no tag');
  for (const tag of [etag, `W/${etag}`]) {
    const again = await canister.accepted({ url, headers: [['if-none-match', tag]] });
    expect(again).toMatchObject({ status: 304, isUpgrade: false });
  }
  const head = await canister.accepted({ method: 'HEAD', url });
  expect(field(head, 'content-length')).toBe(String(domains.length));
  expect(textOf(head)).toBe('');
  expect((await canister.accepted({ method: 'OPTIONS', url })).status).toBe(204);
  const part = await canister.accepted({ url, headers: [['range', 'bytes=0-3']] });
  expect(textOf(part)).toBe(domains);

  await canister.setWellKnown('ic-domains', 'docs.example.org\n');
  expect(textOf(await canister.accepted({ url }))).toBe('docs.example.org\n');
  await canister.setWellKnown('ic-domains');
  expect((await canister.accepted({ url })).status).toBe(404);
});

test('setWellKnown: an upgrade keeps the texts, also those with names of two segments', async () => {
  await canister.setWellKnown('ic-domains', domains);
  await canister.setWellKnown('matrix', '1');
  await canister.setWellKnown('matrix/client', '{}');
  await canister.setWellKnown('empty', '');
  await canister.upgrade();
  const expected = { 'ic-domains': domains, matrix: '1', 'matrix/client': '{}', empty: '' };
  for (const [name, text] of Object.entries(expected)) {
    const answer = await canister.accepted({ url: `/.well-known/${name}` });
    expect(`${answer.status} ${textOf(answer)}`).toBe(`200 ${text}`);
  }
  for (const name of ['', 'none', 'matrix/', 'matrix/other', 'ic-domains/x', '%69c-domainz']) {
    expect((await canister.accepted({ url: `/.well-known/${name}` })).status, name).toBe(404);
  }
  expect(textOf(await canister.accepted({ url: '/.well-known/%69c-domains' }))).toBe(domains);
});

test('setWellKnown: a false condition and a wrong method are answered by an update', async () => {
  await canister.setWellKnown('security.txt', 'Contact: mailto:a@example.org\n');
  const asked = { url: '/.well-known/security.txt' };
  for (const request of [
    { ...asked, headers: [['if-match', '"other"']] as const },
    { ...asked, method: 'PUT' },
  ]) {
    expect(await canister.ask(request)).toMatchObject({ isUpgrade: true });
  }
});
