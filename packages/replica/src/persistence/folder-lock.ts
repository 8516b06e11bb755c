// Prevents two replicas from using one state folder. The lock file has its owner's process id and,
// if /proc has them, boot and start time, which distinguish a reused process id.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileMode, temporarySuffix } from './durable-file.ts';

interface LockOwner {
  readonly pid: number;
  /** Empty if the system does not report it. */
  readonly started: string;
}

export const lockFileName = 'lock';

/** Locks the folder and returns the unlocking function; throws if a living process holds it. */
export function lockFolder(directory: string): () => void {
  const path = join(directory, lockFileName);
  const mine = JSON.stringify({ pid: process.pid, started: startOf(process.pid) });
  const candidate = `${path}.${process.pid}${temporarySuffix}`;
  writeFileSync(candidate, mine, { mode: fileMode });
  try {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      if (tryLink(candidate, path)) return () => release(path, mine);
      removeDeadLock(directory, path);
    }
  } finally {
    rmSync(candidate, { force: true });
  }
  throw new Error(`Cannot lock the state folder ${directory}: other processes keep locking it`);
}

/** Creating a link is atomic and never replaces an existing file. */
function tryLink(candidate: string, path: string): boolean {
  try {
    linkSync(candidate, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function removeDeadLock(directory: string, path: string): void {
  const owner = readOwner(path);
  if (owner !== undefined && isAlive(owner)) throw inUse(directory, owner);
  const aside = `${path}.dead.${process.pid}${temporarySuffix}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  // Between reading and renaming, another process may have replaced the dead lock with its own.
  const moved = readOwner(aside);
  if (moved !== undefined && isAlive(moved)) {
    tryLink(aside, path);
    rmSync(aside, { force: true });
    throw inUse(directory, moved);
  }
  rmSync(aside, { force: true });
}

function inUse(directory: string, owner: LockOwner): Error {
  return new Error(
    `the state folder ${directory} is in use by process ${owner.pid}; stop it or use --state`,
  );
}

function release(path: string, mine: string): void {
  try {
    if (readFileSync(path, 'utf8') === mine) rmSync(path, { force: true });
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
}

/** Returns `undefined` without a lock, or for one that a power cut left empty. */
function readOwner(path: string): LockOwner | undefined {
  try {
    const owner: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof owner !== 'object' || owner === null) return undefined;
    if (!('pid' in owner) || typeof owner.pid !== 'number') return undefined;
    if (!('started' in owner) || typeof owner.started !== 'string') return undefined;
    return { pid: owner.pid, started: owner.started };
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAlive(owner: LockOwner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const started = startOf(owner.pid);
  return owner.started === '' || started === '' || started === owner.started;
}

/** Returns boot and start time of a process: proc(5), field 22; `dead` for a zombie. */
function startOf(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return 'dead';
    return `${boot}:${fields[19] ?? ''}`;
  } catch {
    return '';
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
