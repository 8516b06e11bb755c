import { describe, expect, it } from 'vitest';
import { Scheduler } from '../../../packages/replica/src/execution/scheduler.ts';

describe('Scheduler', () => {
  it('runs tasks in the order of their arrival, and tasks that they push last', async () => {
    const order: number[] = [];
    const scheduler = new Scheduler(() => undefined);
    scheduler.push(() => {
      order.push(1);
      scheduler.push(() => order.push(3));
    });
    scheduler.push(() => order.push(2));
    await scheduler.idle();
    expect(order).toEqual([1, 2, 3]);
  });

  it('continues after a task that throws, and reports it', async () => {
    const faults: unknown[] = [];
    const scheduler = new Scheduler((error) => faults.push(error));
    let isDone = false;
    scheduler.push(() => {
      throw new Error('on purpose');
    });
    scheduler.push(() => {
      isDone = true;
    });
    await scheduler.idle();
    expect(isDone).toBe(true);
    expect(faults).toEqual([new Error('on purpose')]);
  });

  it('is idle only after all tracked work, including tasks pushed by it', async () => {
    const scheduler = new Scheduler(() => undefined);
    let isDone = false;
    const work = new Promise((resolve) => setTimeout(resolve, 5));
    scheduler.track(work);
    void work.then(() =>
      scheduler.push(() => {
        isDone = true;
      }),
    );
    await scheduler.idle();
    expect(isDone).toBe(true);
  });

  it('lets the event loop run while tasks keep arriving', async () => {
    const scheduler = new Scheduler(() => undefined);
    let turns = 0;
    const again = setInterval(() => {
      turns += 1;
    }, 1);
    // Without turns of the event loop, this would not end.
    const task = () => {
      if (turns < 2) scheduler.push(task);
    };
    scheduler.push(task);
    await scheduler.idle();
    clearInterval(again);
    expect(turns).toBe(2);
  });
});
