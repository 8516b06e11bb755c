// The places of requests in the S3 server, without a service.

import { expect, test } from 'vitest';
import { Workers } from '../../packages/s3/src/workers.ts';

const { signal } = new AbortController();
const share = { workingMax: 1, openMax: 2, waitingMax: 2 };

function delayed(): { readonly arrival: Promise<void>; readonly arrive: () => void } {
  let arrive = () => {};
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return { arrival, arrive };
}

test.each([
  ['before its client responds', false],
  ['while it waits for a place', true],
])('Workers.leave: a request that ends %s occupies no place', async (_, arrivesFirst) => {
  const workers = new Workers({ workingMax: 1, ofEachKey: share, ofUnsigned: share });
  const { arrival, arrive } = delayed();
  const ended = await workers.enter('A', signal);
  const back = ended.waitOutside(arrival).catch((error: Error) => error.message);
  const other = await workers.enter('B', signal);
  if (arrivesFirst) {
    arrive();
    await new Promise((resolve) => setImmediate(resolve));
  }
  ended.leave();
  other.leave();
  arrive();
  const next = ['A', 'A', 'B'].map(async (key) => (await workers.enter(key, signal)).leave());
  const late = new Promise((resolve) => setTimeout(resolve, 1_000, 'late'));
  expect(await Promise.race([Promise.all(next).then(() => 'admitted'), late])).toBe('admitted');
  expect(await back).toBe('The request has ended.');
});
