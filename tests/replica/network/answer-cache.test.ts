// The answers that the network's gateways cache, how long, and for which requests.

import { describe, expect, test } from 'vitest';
import type { HttpAnswer } from '../../../packages/replica/src/gateway/http-messages.ts';
import { AnswerCache } from '../../../packages/replica/src/network/answer-cache.ts';
import { mainnetProfile } from '../../../packages/replica/src/network/profile.ts';
import { seededRandom } from '../../../packages/replica/src/network/seeded-random.ts';

const page = { method: 'GET', host: 'a.localhost', url: '/x', range: undefined };
const punctual = { ...mainnetProfile.cache, earliness: 0 };

/** Returns a cache; the canister takes `tookMs` for each answer. */
function newCache(settings = punctual, tookMs = 0) {
  let time = 0;
  let asked = 0;
  const cache = new AnswerCache(settings, seededRandom(1), () => time);
  const answer = (cacheControl?: string, rest: Partial<HttpAnswer> = {}) => {
    const headers = cacheControl === undefined ? [] : [['cache-control', cacheControl] as const];
    return { status: 200, headers, body: new Uint8Array(1_000), ...rest };
  };
  return {
    /** Returns whether the canister was asked. */
    async isAsked(key: Partial<typeof page> | { range: string }, given: HttpAnswer = answer()) {
      const before = asked;
      await cache.answer({ ...page, ...key }, async () => {
        asked += 1;
        time += tookMs;
        return given;
      });
      return asked > before;
    },
    answer,
    pass: (milliseconds: number) => {
      time += milliseconds;
    },
  };
}

describe('an answer is cached', () => {
  test('for ten seconds', async () => {
    const { isAsked, pass } = newCache();
    expect(await isAsked({})).toBe(true);
    pass(9_999);
    expect(await isAsked({})).toBe(false);
    pass(1);
    expect(await isAsked({})).toBe(true);
  });

  test('as long as its Cache-Control says, at most a day', async () => {
    const { isAsked, answer, pass } = newCache();
    await isAsked({}, answer('public, max-age=3600'));
    await isAsked({ url: '/long' }, answer('max-age=31536000, immutable'));
    pass(3_599_999);
    expect(await isAsked({})).toBe(false);
    pass(1);
    expect(await isAsked({})).toBe(true);
    pass(82_799_999);
    expect(await isAsked({ url: '/long' })).toBe(false);
    pass(1);
    expect(await isAsked({ url: '/long' })).toBe(true);
  });

  test('even with `private`, because gateways ignore that directive', async () => {
    const { isAsked, answer } = newCache();
    await isAsked({}, answer('private'));
    expect(await isAsked({})).toBe(false);
  });

  test('by host, path, query and range', async () => {
    const { isAsked } = newCache();
    await isAsked({});
    for (const other of [{ host: 'b' }, { url: '/x?' }, { url: '/X' }, { range: 'bytes=0-' }]) {
      expect(await isAsked(other), JSON.stringify(other)).toBe(true);
      expect(await isAsked(other)).toBe(false);
    }
  });

  test('and may be refreshed early, more likely if it took longer', async () => {
    const askedEarly = async (tookMs: number) => {
      const { isAsked, pass } = newCache(mainnetProfile.cache, tookMs);
      let count = 0;
      for (let index = 0; index < 100; index += 1) {
        await isAsked({ url: `/${index}` });
        pass(9_500);
        if (await isAsked({ url: `/${index}` })) count += 1;
      }
      return count;
    };
    expect(await askedEarly(0)).toBe(0);
    const [cheap, dear] = [await askedEarly(200), await askedEarly(2_000)];
    expect(cheap).toBeGreaterThan(20);
    expect(dear).toBeGreaterThan(cheap);
    expect(dear).toBeLessThan(100);
  });
});

describe('an answer is not cached', () => {
  test.each(['no-store', 'private, no-store', 'no-cache', 'max-age=0'])('of %s', async (value) => {
    const { isAsked, answer } = newCache();
    await isAsked({}, answer(value));
    expect(await isAsked({})).toBe(true);
  });

  test('to HEAD or POST, of another status than 2xx, of unknown length, or too long', async () => {
    const { isAsked, answer } = newCache({ ...punctual, itemBytesMax: 999 });
    async function* parts() {
      yield new Uint8Array(1);
    }
    for (const [key, given] of [
      [{ method: 'HEAD' }, answer()],
      [{ method: 'POST' }, answer()],
      [{ url: '/304' }, answer(undefined, { status: 304 })],
      [{ url: '/404' }, answer(undefined, { status: 404 })],
      [{ url: '/stream' }, answer(undefined, { body: parts() })],
      [{ url: '/long' }, answer()],
    ] as const) {
      await isAsked(key, given);
      expect(await isAsked(key, given), JSON.stringify(key)).toBe(true);
    }
  });

  test('beyond the capacity: the oldest are dropped', async () => {
    const { isAsked } = newCache({ ...punctual, bytesMax: 2_500 });
    for (const url of ['/1', '/2', '/3']) await isAsked({ url });
    expect(await isAsked({ url: '/3' })).toBe(false);
    expect(await isAsked({ url: '/2' })).toBe(false);
    expect(await isAsked({ url: '/1' })).toBe(true);
  });
});

test('concurrent requests for the same answer are sent once', async () => {
  const cache = new AnswerCache(punctual, seededRandom(1), () => 0);
  let asked = 0;
  const ask = async (): Promise<HttpAnswer> => {
    asked += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
    return { status: 200, headers: [], body: new Uint8Array(3) };
  };
  const answers = await Promise.all([1, 2, 3].map(() => cache.answer(page, ask)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(asked).toBe(1);
});

test('a failure is not shared: the next request is sent again', async () => {
  const cache = new AnswerCache(punctual, seededRandom(1), () => 0);
  const failing = () => Promise.reject(new Error('no answer'));
  await expect(cache.answer(page, failing)).rejects.toThrow('no answer');
  const given = { status: 200, headers: [], body: new Uint8Array(3) };
  expect(await cache.answer(page, async () => given)).toBe(given);
});
