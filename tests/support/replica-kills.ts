// kill -9 of a replica with a counter in the heap and the service: whatever was answered is there
// after the restart, and no post_upgrade ran for it.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { copyPreparedState } from './prepared-state.ts';
import { canister } from './wasm-canisters/text-module.ts';

const writer = fileURLToPath(new URL('./killed-replica.ts', import.meta.url));
/** Any id that the replica has not given. */
export const counterId = 'ryjl3-tyaaa-aaaaa-aaaba-cai';

/** Counts in the heap, in a global and in stable memory. */
const counter = () =>
  canister(
    ['stable64_grow', 'stable64_write', 'stable64_read'],
    `(global $count (mut i32) (i32.const 0))
    (func (export "canister_init") (drop (call $stable64_grow (i64.const 1))))
    (func (export "canister_post_upgrade") unreachable)
    (func (export "canister_update inc")
      (i32.store (i32.const 9000) (i32.add (i32.load (i32.const 9000)) (i32.const 1)))
      (global.set $count (i32.add (global.get $count) (i32.const 1)))
      (call $stable64_write (i64.const 0) (i64.const 9000) (i64.const 4)) (call $msg_reply))
    (func (export "canister_query heap") (call $reply32 (i32.load (i32.const 9000))))
    (func (export "canister_query global") (call $reply32 (global.get $count)))
    (func (export "canister_query stable")
      (call $stable64_read (i64.const 100) (i64.const 0) (i64.const 4))
      (call $reply32 (i32.load (i32.const 100))))`,
  );

/** 1 to 300 kB that no other file has. */
export function fileBytes(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(1_000 + ((count * 7_919) % 300_000));
  bytes.fill(count % 251);
  new DataView(bytes.buffer).setUint32(0, count);
  return bytes;
}

/** The newest number that the counter answered, and files that were put. */
export interface Answered {
  readonly count: number;
  readonly files: readonly number[];
}

/** Runs the writer and kills it some time after its first line. */
async function runAndKill(run: {
  readonly words: readonly string[];
  readonly milliseconds: number;
}): Promise<Answered> {
  const words = ['--import', 'tsx', writer, ...run.words];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stderr.on('data', (data) => {
    errors += String(data);
  });
  child.stdout.on('data', (data) => {
    if (output === '') setTimeout(() => child.kill('SIGKILL'), run.milliseconds);
    output += String(data);
  });
  const signal = await new Promise((resolve) => child.on('close', (_, name) => resolve(name)));
  expect(signal, errors).toBe('SIGKILL');
  const lines = output.split('\n').slice(0, -1);
  const numbers = (word: string) =>
    lines.filter((line) => line.startsWith(word)).map((line) => Number(line.split(' ')[1]));
  return { count: numbers('count').at(-1) ?? 0, files: numbers('file') };
}

/** Kills it so many times, and looks once more. */
export async function killReplica(rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'replica-kills-'));
  const stateDir = join(folder, 'state');
  const { wasmPath } = await buildCanister({ force: false });
  try {
    await copyPreparedState(stateDir);
    const begun = await startReplica({ stateDir, server: false });
    await begun.createCanister({ id: counterId });
    await begun.install(counterId, counter());
    await begun.stop();
    let answered: Answered = { count: 0, files: [] };
    for (let round = 0; round <= rounds; round += 1) {
      const words = [stateDir, wasmPath, JSON.stringify(answered)];
      const { count, files } = await runAndKill({ words, milliseconds: Math.random() * 400 });
      expect(count).toBeGreaterThanOrEqual(answered.count);
      answered = { count, files: [...answered.files, ...files].slice(-20) };
    }
    expect(answered.count).toBeGreaterThanOrEqual(Math.floor(rounds / 2));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
