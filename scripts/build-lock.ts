// Allows one build at a time in a folder: `icp deploy` runs the builds of all canisters at once,
// and both canisters of this project have the same module.

import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

const pollMs = 50;

export interface LockOptions {
  /** The lock is this file, which contains the id of the process that holds it. */
  readonly path: string;
  /** Called once if another process holds the lock, with that process's id. */
  readonly onWait: (holder: number) => void;
}

/** Runs `work` while no other process holds the lock. The lock of a dead process is removed. */
export async function withLock<T>(
  { path, onWait }: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const own = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await writeFile(own, String(process.pid));
  try {
    for (let isWaiting = false; !(await isLinked(own, path)); await setTimeout(pollMs)) {
      const holder = Number(await readFile(path, 'utf8').catch(() => '0'));
      if (holder > 0 && !isAlive(holder)) await rm(path, { force: true });
      else if (holder > 0 && !isWaiting) {
        isWaiting = true;
        onWait(holder);
      }
    }
    try {
      return await work();
    } finally {
      await rm(path, { force: true });
    }
  } finally {
    await rm(own, { force: true });
  }
}

/** Links the complete file, so nobody reads a lock without its holder. */
function isLinked(own: string, path: string): Promise<boolean> {
  return link(own, path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // EPERM: the process is alive, but belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
