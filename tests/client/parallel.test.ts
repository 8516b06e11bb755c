// Concurrent workers: the first failure stops the others, and all have ended afterwards.

import { describe, expect, it } from 'vitest';
import { inParallel, oneAtATime } from '../../packages/client/src/connection/parallel.ts';

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

describe('inParallel()', () => {
  it('stops the other workers after a failure, waits for them, and throws the first error', async () => {
    const failure = new Error('the first');
    const reasons: unknown[] = [];
    let hands = 0;
    const working = inParallel({ concurrency: 3, signal: undefined }, async (signal) => {
      hands += 1;
      if (hands === 3) throw failure;
      await aborted(signal);
      reasons.push(signal.reason);
      throw new Error('a later one');
    });
    await expect(working).rejects.toBe(failure);
    expect(reasons).toEqual([failure, failure]);
  });

  it.each(['before', 'meanwhile'])(
    'stops all workers when the caller aborts %s',
    async (when) => {
      const controller = new AbortController();
      const reason = new Error('enough');
      if (when === 'before') controller.abort(reason);
      const reasons: unknown[] = [];
      const options = { concurrency: 2, signal: controller.signal };
      const working = inParallel(options, async (signal) => {
        await aborted(signal);
        reasons.push(signal.reason);
      });
      controller.abort(reason);
      await working;
      expect(reasons).toEqual([reason, reason]);
    },
    2_000,
  );
});

describe('oneAtATime()', () => {
  it('begins a call when the previous one has ended, also after a failure', async () => {
    const events: string[] = [];
    let count = 0;
    const take = oneAtATime(async () => {
      const number = ++count;
      events.push(`begin ${number}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      events.push(`end ${number}`);
      if (number === 1) throw new Error('no');
      return number;
    });
    const results = await Promise.allSettled([take(), take()]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    expect(events).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2']);
  });
});
