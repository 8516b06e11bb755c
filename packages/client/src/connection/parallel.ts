// Concurrent workers. The first failure stops the others; all workers have ended when the promise
// settles.

import { abortedError, StorageError } from '../storage-error.ts';
import { onAbort } from './abort.ts';
import { linkedController } from './linked-controller.ts';
import type { Signal } from './transport.ts';

/**
 * A block of the network holds two chunks of 2 MB, and a request takes about two seconds. 80 MB
 * took 31 s with four concurrent requests and 26 s with eight, which is close to the rate of
 * blocks; downloads of 20 MB took 1.4 s and 1.0 s (bench/client-network.ts).
 */
const concurrencyDefault = 8;
export const concurrencyMax = 32;

export function checkedConcurrency(concurrency = concurrencyDefault): number {
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= concurrencyMax) {
    return concurrency;
  }
  throw new StorageError(
    'InvalidArgument',
    `concurrency must be 1 to ${concurrencyMax}; got ${concurrency}.`,
  );
}

/** Runs workers. The caller's abort or a worker's failure aborts the signal of all workers. */
export async function inParallel(
  { concurrency, signal }: { readonly concurrency: number; readonly signal: Signal },
  worker: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { controller, release } = linkedController(signal);
  const failures: unknown[] = [];
  const work = async () => {
    try {
      await worker(controller.signal);
    } catch (error) {
      failures.push(error);
      controller.abort(error);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  release();
  if (failures.length > 0) throw failures[0];
}

/** Returns the result of `work`, or undefined as soon as the signal is aborted. */
export function unlessAborted<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) return stop();
    const settled = onAbort(signal, stop);
    work().then(resolve, reject).finally(settled);
  });
}

/** Yields results as tasks end, with at most `concurrency` running. Tasks must not throw. */
export async function* asTheyEnd<T>(
  tasks: AsyncIterable<() => Promise<T>>,
  concurrency: number,
): AsyncGenerator<T> {
  const running = new Set<Promise<void>>();
  const ended: T[] = [];
  for await (const task of tasks) {
    const one: Promise<void> = task().then((value) => {
      ended.push(value);
      running.delete(one);
    });
    running.add(one);
    if (running.size === concurrency) await Promise.race(running);
    yield* ended.splice(0);
  }
  while (running.size > 0) {
    await Promise.race(running);
    yield* ended.splice(0);
  }
  yield* ended;
}

/**
 * Yields the results of tasks as they end. The tasks have a signal, which the caller's abort and
 * the end of the loop abort. Throws when the caller's signal aborts.
 */
export async function* eachEnded<T>(
  options: { readonly concurrency: number; readonly signal: Signal },
  tasksOf: (signal: AbortSignal) => AsyncIterable<() => Promise<readonly T[]>>,
): AsyncGenerator<T> {
  const { controller, release } = linkedController(options.signal);
  const { signal } = controller;
  try {
    for await (const ended of asTheyEnd(tasksOf(signal), options.concurrency)) {
      if (signal.aborted) throw abortedError(signal.reason);
      yield* ended;
    }
  } finally {
    // Leaving the loop ends the tasks.
    controller.abort();
    release();
  }
}

/** Returns a function that runs work, with at most `most` running at a time. */
export function limiter(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** Returns a function that queues its calls: each begins when the previous one has ended. */
export function oneAtATime<T>(take: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(take);
    last = next.catch(() => {});
    return next;
  };
}
