// Sends the whole list of hostile arguments to every method, in every way.
// `npm run test:thorough` sends a share of it.

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  expectCheap,
  expectEveryWay,
  expectNothingWritten,
  expectWords,
  openRefusedService,
  type RefusedService,
} from '../support/refusal-checks.ts';

let service: RefusedService;

beforeAll(async () => {
  service = await openRefusedService();
}, 1_200_000);

afterAll(() => service?.close());

test('every refusal of the list is cheap, has a reason, and writes nothing', () => {
  const { refusals } = service;
  expect(refusals.length).toBeGreaterThan(8_000);
  expectEveryWay(refusals);
  expectCheap(refusals);
  expectWords(refusals);
  expectNothingWritten(refusals);
});
