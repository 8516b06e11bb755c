// Work done by several hands at a time. The first failure stops the others, and all have ended when
// the promise settles.

import { StorageError } from '../storage-error.ts';
import { onAbort } from './abort.ts';
import { linkedController } from './linked-controller.ts';
import type { Signal } from './transport.ts';

/**
 * On the network a block takes two chunks of 2 MB and a request some two seconds: by four at a
 * time 80 MB went in 31 s, by eight in 26 s, hardly slower than blocks are made; 20 MB came in
 * 1.4 s and in 1.0 s (bench/client-network.ts).
 */
const concurrencyDefault = 8;
const concurrencyMax = 32;

export function checkedConcurrency(concurrency = concurrencyDefault): number {
  if (Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= concurrencyMax) {
    return concurrency;
  }
  throw new StorageError(
    'InvalidArgument',
    `The concurrency is a number from 1 to ${concurrencyMax}; got ${concurrency}.`,
  );
}

/** Each hand gets a signal that the caller's abort and the failure of another hand set off. */
export async function inParallel(
  { concurrency, signal }: { readonly concurrency: number; readonly signal: Signal },
  hand: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { controller, release } = linkedController(signal);
  const failures: unknown[] = [];
  const work = async () => {
    try {
      await hand(controller.signal);
    } catch (error) {
      failures.push(error);
      controller.abort(error);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  release();
  if (failures.length > 0) throw failures[0];
}

/** What the work gives, or undefined when the signal comes first: then nobody waits for it. */
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

/** What tasks that never fail give, as they end; so many run at a time. */
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

/** The same function, one call after another. */
export function oneAtATime<T>(take: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(take);
    last = next.catch(() => {});
    return next;
  };
}
