// Hostile arguments to every method, by ingress, by a call of another canister, which skips the
// inspection, and by a query. Each is refused with a reason, changes nothing, and stays within a
// limit of instructions. Tests a share of the list, chosen by the seed in the title; `npm run soak`
// sends all of it.

import { IDL } from '@dfinity/candid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Forwarder, installForwarder } from '../support/forwarder/forwarder.ts';
import { randomNumbers } from '../support/random-numbers.ts';
import {
  beginTypes,
  expectCheap,
  expectEveryWay,
  expectNothingWritten,
  expectNoUpdates,
  expectWords,
  instructionsMax,
  openRefusedService,
  type RefusedService,
  TextResult,
} from '../support/refusal-checks.ts';
import { stranger } from '../support/refusal-costs.ts';
import { seedOr } from '../support/seed.ts';

/** Sends one of this many attacks, chosen at random. */
const oneOf = 8;
const seed = seedOr(20_261_122);

/** These attacks are sent in every run. */
const foundByAttack = [
  ['getStatus', '2^32 nulls'],
  ['http_request_update', '2^32 nulls'],
  ['uploadFile', '2^32 nulls'],
  ['uploadFiles', '200 files with every optional field'],
  ['uploadFileChunkIndexed', '2^32 nulls'],
  ['beginFileUploadWith', 'a tag and empty list elements in text 4'],
  ['http_request_update', 'PUT, Content-Digest: digests without end'],
  ['beginFileUploadWith', 'a text of 15 kB in an unknown field, lists of 480'],
  ['cancelUpload', '14 kB of letters in text 0'],
  ['deleteFile', '14 kB of letters in text 1'],
  ['http_request_update', 'start with JSON 30,000 deep'],
  ['http_request', 'GET of the unreadable URL /api/%zz'],
  ['http_request', 'GET of the unreadable URL /cloud/site/%zz with 8.8 kB'],
  ['http_request_update', 'POST of the unreadable URL /api/%00 with 8.8 kB'],
  ['http_request_update', 'a move of a prefix into itself'],
] as const;

let service: RefusedService;

beforeAll(async () => {
  const always = new Set(foundByAttack.map(([method, name]) => `${method}: ${name}`));
  const random = randomNumbers(seed);
  service = await openRefusedService((method, name) => {
    return random(oneOf) === 0 || always.has(`${method}: ${name}`);
  });
}, 600_000);

afterAll(() => service?.close());

describe(`hostile arguments, seed ${seed}`, () => {
  test('are sent to every method, by every route', () => {
    expectEveryWay(service.refusals);
    expect(service.refusals.length).toBeGreaterThan(8_000 / oneOf);
  });

  test(`cost at most ${instructionsMax} instructions to refuse`, () => {
    expectCheap(service.refusals);
  });

  test('by a caller without a right cause no update outside a budget', () => {
    expectNoUpdates(service.refusals);
  });

  test('are refused with a reason, by the method or by the inspection', () => {
    expectWords(service.refusals);
  });

  test('change nothing', () => {
    expectNothingWritten(service.refusals);
  });
});

describe('expensive arguments found by attacks', () => {
  test.each(foundByAttack)('%s refuses %s within the limit', (method, name) => {
    const { refusals } = service;
    const found = refusals.filter((one) => one.method === method && one.name === name);
    expect(found.length).toBeGreaterThan(0);
    expect(Math.max(...found.map(({ instructions }) => instructions))).toBeLessThan(
      instructionsMax,
    );
  });
});

describe('a call from another canister', () => {
  let forwarder: Forwarder;

  beforeAll(async () => {
    forwarder = await installForwarder(service.replica);
  });

  test('that is valid is executed', async () => {
    const { canisterId, apiKey } = service;
    const argument = IDL.encode(beginTypes, ['demo', '/v', 'text/plain', 1n, [apiKey]]);
    const reply = await forwarder.call(canisterId, 'beginFileUpload', argument);
    expect(IDL.decode([TextResult], reply)).toEqual([
      { ok: expect.stringMatching(/^[0-9a-f]{32}$/) },
    ]);
  });

  test('without its last optional argument gets the same answer as with an empty one', async () => {
    const argument = IDL.encode(beginTypes.slice(0, 4), ['demo', '/v', 'text/plain', 1n]);
    const reply = await forwarder.call(service.canisterId, 'beginFileUpload', argument);
    expect(JSON.stringify(IDL.decode([TextResult], reply))).toContain('AccessDenied: ');
  });

  test('that a stranger may not make gets the same error as an ingress message', async () => {
    const { replica, canisterId } = service;
    const argument = IDL.encode([IDL.Text], ['00'.repeat(16)]);
    const reply = await forwarder.call(canisterId, 'cancelUpload', argument);
    expect(Buffer.from(reply).toString()).toContain('NoSuchUpload: Upload ');
    const sent = replica.call(canisterId, 'cancelUpload', argument, { sender: stranger });
    await expect(sent).rejects.toThrow('NoSuchUpload: Upload ');
  });
});
