// A mirror that is killed again and again while its source changes.

import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { type CommandSettings, startCommand } from './command-runs.ts';

export interface Kills {
  readonly count: number;
  /** Largest number of milliseconds between a printed line and the kill. */
  readonly delayMsMax: number;
  /** Returns a number from 0 to below the argument. */
  readonly random: (below: number) => number;
  /** Changes the source. */
  change(): Promise<void>;
  /** Called before each start. */
  prepare?(kill: number): Promise<void>;
}

/** Kills the command after up to four lines each time; returns the number of lines of all runs. */
export async function killOften(
  words: readonly string[],
  settings: CommandSettings,
  { count, delayMsMax, random, change, prepare }: Kills,
): Promise<number> {
  let lineCount = 0;
  for (let kill = 0; kill < count; kill++) {
    await prepare?.(kill);
    const run = startCommand([...words], settings);
    let lines = 0;
    run.process.stdout?.on('data', (text: string) => {
      lines += text.split('\n').length - 1;
    });
    for (let changes = 0; changes < 3; changes++) await change();
    const wanted = random(5);
    for (let waits = 1; lines < wanted; waits++) {
      await wait(20);
      if (waits % 100 === 0) await change();
    }
    await wait(random(delayMsMax));
    run.process.kill('SIGKILL');
    const { code } = await run.ended;
    // No run ends by itself.
    expect(code).toBeUndefined();
    lineCount += lines;
  }
  return lineCount;
}
