// Retries: the failures that are retried, the number of attempts, and the delays.

import { describe, expect, test, vi } from 'vitest';
import { errorOfText } from '../../packages/client/src/actor/connection.ts';
import {
  isTransientReject,
  upgradedWords,
} from '../../packages/client/src/actor/transient-reject.ts';
import { rejectedError } from '../../packages/client/src/connection/network-errors.ts';
import { delayMs, retry } from '../../packages/client/src/connection/retry.ts';
import { moveAll } from '../../packages/client/src/files/copies.ts';
import { createStorage } from '../../packages/client/src/storage.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';

const address = 'https://files.example';
const policy = { attemptsMax: 4, delayMsMin: 100, delayMsMax: 350, stoppedMsMax: 5_000 };

function failing(...errors: (Error | undefined)[]) {
  let calls = 0;
  return {
    operation: async () => {
      const error = errors[calls++];
      if (error !== undefined) throw error;
      return calls;
    },
  };
}

const passing = (retryAfterSeconds?: number) =>
  new StorageError('SlowDown', 'too fast', { status: 429, retryAfterSeconds });

test('retry(): delays double up to the maximum, and half of each is random', () => {
  for (const [attempt, whole] of [100, 200, 350, 350].entries()) {
    for (let count = 0; count < 100; count++) {
      const delay = delayMs(policy, attempt + 1);
      expect(delay).toBeGreaterThanOrEqual(whole / 2);
      expect(delay).toBeLessThanOrEqual(whole);
    }
  }
});

test('retry(): temporary faults are retried up to the last attempt', async () => {
  const quick = { ...policy, delayMsMin: 1 };
  expect(await retry(failing(passing(), passing()).operation, { policy: quick })).toBe(3);
  const always = failing(...Array.from({ length: 9 }, () => passing()));
  await expect(retry(always.operation, { policy: quick })).rejects.toMatchObject({
    code: 'SlowDown',
  });
  expect(await always.operation().catch(() => 'the fifth call')).toBe('the fifth call');
});

test('retry(): permanent faults are not retried', async () => {
  for (const [code, status] of [
    ['AccessDenied', 403],
    ['PreconditionFailed', 412],
    ['QuotaExceeded', 507],
    ['IntegrityError', 500],
  ] as const) {
    const { operation } = failing(new StorageError(code, 'no', { status }));
    await expect(retry(operation, { policy })).rejects.toMatchObject({ code });
  }
  await expect(retry(failing(new Error('a bug')).operation, { policy })).rejects.toThrow('a bug');
});

describe('retry() of a stopped canister', () => {
  const stopped = () => new StorageError('Stopped', 'is stopped', { status: 503 });

  async function lastAttempt(attemptsMax: number): Promise<readonly [number, number]> {
    vi.useFakeTimers();
    try {
      const start = Date.now();
      let calls = 0;
      const refused = retry(
        async () => {
          calls++;
          throw stopped();
        },
        { policy: { ...policy, attemptsMax } },
      ).catch(({ code }) => [code, Date.now() - start]);
      await vi.runAllTimersAsync();
      const [code, elapsedMs] = await refused;
      expect(code).toBe('Stopped');
      return [calls, elapsedMs];
    } finally {
      vi.useRealTimers();
    }
  }

  test('ends with an attempt at stoppedMsMax, however many attempts there are', async () => {
    for (const attemptsMax of [2, 40]) {
      const [calls, elapsedMs] = await lastAttempt(attemptsMax);
      expect(elapsedMs).toBe(5_000);
      expect(calls).toBeGreaterThan(14);
    }
  });

  test('repeats without delays if the policy has none', async () => {
    const { operation } = failing(stopped(), passing(), stopped());
    expect(await retry(operation, { policy: { ...policy, delayMsMin: 0 } })).toBe(4);
  });

  test('makes one attempt if the policy allows one', async () => {
    expect(await lastAttempt(1)).toEqual([1, 0]);
  });

  test('counts from the first refusal by the canister, and then limits other faults by attempts', async () => {
    const { operation } = failing(passing(), stopped(), stopped());
    expect(await retry(operation, { policy: { ...policy, delayMsMin: 1 } })).toBe(4);
    const late = failing(stopped(), stopped(), stopped(), passing());
    await expect(
      retry(late.operation, { policy: { ...policy, delayMsMin: 1 } }),
    ).rejects.toMatchObject({ code: 'SlowDown' });
  });
});

test('isTransientReject() accepts only rejects of calls that were not executed', () => {
  expect(isTransientReject(2, 'out of room')).toBe(true);
  expect(isTransientReject(4, upgradedWords)).toBe(true);
  expect(isTransientReject(4, 'no Candid')).toBe(false);
  expect(isTransientReject(5, upgradedWords)).toBe(false);
  expect(isTransientReject(undefined, undefined)).toBe(false);
});

test('retry(): Retry-After is honoured, and a value that is too long ends the attempts', async () => {
  vi.useFakeTimers();
  try {
    const done = vi.fn();
    const waiting = retry(failing(passing(30)).operation, { policy }).then(done);
    await vi.advanceTimersByTimeAsync(29_900);
    expect(done).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(200);
    await waiting;
    expect(done).toHaveBeenCalledWith(2);
  } finally {
    vi.useRealTimers();
  }
  await expect(retry(failing(passing(3_600)).operation, { policy })).rejects.toThrow('too fast');
});

test('retry(): the seconds in a refusal by the actor count as its Retry-After', async () => {
  const words = (seconds: number) =>
    `SlowDown: The API key has used its budget: try again in ${seconds} seconds, or use another.`;
  const trap = `Canister aaaaa-aa called ic0.trap with message: '${words(900)}'`;
  for (const error of [errorOfText(words(900)), rejectedError({ address, message: trap }, {})]) {
    expect(error).toMatchObject({ code: 'SlowDown', retryAfterSeconds: 900, isRetryable: true });
    const { operation } = failing(error);
    await expect(retry(operation, { policy })).rejects.toBe(error);
    expect(await operation()).toBe(2);
  }
  expect(errorOfText('SlowDown: Try again in a few minutes.').retryAfterSeconds).toBe(undefined);
});

test("retry(): the caller's signal ends the wait", async () => {
  const controller = new AbortController();
  const slow = { ...policy, delayMsMin: 60_000, delayMsMax: 60_000 };
  const { signal } = controller;
  const waiting = retry(failing(passing()).operation, { policy: slow, signal });
  setTimeout(() => controller.abort(), 10);
  await expect(waiting).rejects.toMatchObject({ code: 'Aborted' });
});

async function failureOf(response: Response): Promise<StorageError> {
  const fetch = async () => response;
  const storage = createStorage({ url: 'http://x', fetch, retry: { attemptsMax: 1 } });
  return storage.stat({ bucket: 'b', path: 'p' }).then(
    () => expect.fail('the request succeeded'),
    (error: StorageError) => error,
  );
}

test("retry(): a refusal has the service's code, message, request id and details", async () => {
  const error = { code: 'SlowDown', message: 'slowly', requestId: 'r1', details: { limit: 50 } };
  const headers = { 'Retry-After': '10' };
  expect(await failureOf(Response.json({ error }, { status: 429, headers }))).toMatchObject({
    name: 'StorageError',
    code: 'SlowDown',
    message: 'slowly',
    status: 429,
    requestId: 'r1',
    details: { limit: 50 },
    retryAfterSeconds: 10,
    isRetryable: true,
  });
});

test('retry(): a response of another server is reported as HttpError', async () => {
  const page = new Response('<html>', { status: 502, headers: { 'x-request-id': 'g7' } });
  expect(await failureOf(page)).toMatchObject({
    code: 'HttpError',
    status: 502,
    requestId: 'g7',
    isRetryable: true,
  });
  const portal = new Response('<html>log in', { status: 200 });
  expect(await failureOf(portal)).toMatchObject({ code: 'HttpError', isRetryable: false });
});

test('retry(): a Retry-After of an intermediary is seconds, or a date relative to its Date field', async () => {
  const date = 'Mon, 23 Nov 2026 10:00:00 GMT';
  const until = 'Mon, 23 Nov 2026 10:01:30 GMT';
  for (const [field, seconds] of [
    ['7', 7],
    [until, 90],
    ['soon', undefined],
  ] as const) {
    const headers = { 'Retry-After': field, Date: date };
    const page = new Response('<html>', { status: 503, headers });
    expect(await failureOf(page)).toMatchObject({ retryAfterSeconds: seconds, isRetryable: true });
  }
});

test('retry(): an upload refused for lack of cycles is not retried', async () => {
  const message =
    'The canister is low on cycles and accepts no uploads: ask its operator to top it up.';
  const error = { code: 'ServiceUnavailable', message };
  expect(await failureOf(Response.json({ error }, { status: 503 }))).toMatchObject({
    code: 'LowCycles',
    isRetryable: false,
    message: expect.stringMatching(/accepts no uploads: .* Top it up: icp canister top-up/),
  });
});

test('retry(): buckets and keys over HTTP are refused with a remedy', async () => {
  const { buckets, keys } = createStorage({ url: 'http://x' });
  for (const refused of [buckets.create('b'), keys.list('b')]) {
    await expect(refused).rejects.toMatchObject({
      code: 'Unsupported',
      message: expect.stringContaining('canisterId'),
    });
  }
});

test('retry(): a chunk that changed in transit is sent again', async () => {
  const session = {
    uploadId: 'u',
    chunkSize: 65_536,
    chunkCount: 1,
    receivedChunks: 0,
    missing: [0],
  };
  let sent = 0;
  const fetch: typeof globalThis.fetch = async (input) => {
    const url = String(input);
    if (url.endsWith('/start')) return Response.json(session);
    if (url.endsWith('/complete')) return Response.json({ etag: abcDigest });
    sent++;
    return Response.json({ sha256: sent < 3 ? '00'.repeat(32) : abcDigest });
  };
  const storage = createStorage({ url: 'http://x', fetch, retry: { delayMsMin: 1 } });
  const upload = { bucket: 'b', path: 'p', resume: undefined };
  await storage.upload(new TextEncoder().encode('abc'), upload);
  expect(sent).toBe(3);
});

/** SHA-256 of "abc", FIPS 180-4. */
const abcDigest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';

test('retry(): another file at the path after the completion is an integrity error', async () => {
  const fetch = async () => Response.json({ etag: '00' });
  const storage = createStorage({ url: 'http://x', fetch });
  const upload = storage.upload(new Uint8Array(3), { bucket: 'b', path: 'p', contentType: 'a/b' });
  await expect(upload).rejects.toMatchObject({ code: 'IntegrityError' });
});

test('moveAll(): continues by cursors behind files that fail, and reports them all', async () => {
  const error = new StorageError('InvalidPath', 'too long');
  const failed = Array.from({ length: 1_000 }, (_, index) => ({ path: `in/long ${index}`, error }));
  const answers: Record<string, object> = {
    undefined: { moved: 0, nextCursor: 'after 999', failed },
    'after 999': { moved: 999, nextCursor: 'after 1999', failed: [{ path: 'in/m', error }] },
    'after 1999': { moved: 1, nextCursor: undefined, failed: [] },
  };
  const moveFiles = vi.fn(async ({ cursor }: { readonly cursor?: string }) => answers[`${cursor}`]);
  const transport = { moveFiles, usage: async () => ({ files: 3_000 }) };
  const connection = { transport, retryPolicy: policy } as never;
  const move = { bucket: 'demo', fromPrefix: 'in/', toPrefix: 'out/' };
  const all = [...failed, { path: 'in/m', error }];
  expect(await moveAll(connection, move)).toEqual({ moved: 1_000, failed: all });
  expect(moveFiles).toHaveBeenCalledTimes(3);
});
