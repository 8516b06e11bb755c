// A start on a state folder that changed since the last stop: truncated, without its description,
// damaged, on a full disk, or of an earlier version.

import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type Replica,
  type ReplicaOptions,
  startReplica,
} from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally, newIdentity, principalOf } from '../../scripts/local-service.ts';
import { copyPreparedState } from '../support/prepared-state.ts';
import { sampleBytes } from '../support/service.ts';

let root: string;
let stateDir: string;
let wasm: Uint8Array;
let replica: Replica | undefined;
let notes: string[];

beforeAll(async () => {
  wasm = new Uint8Array(readFileSync((await buildCanister({ force: false })).wasmPath));
});

afterEach(async () => {
  await replica?.stop();
  replica = undefined;
  rmSync(root, { recursive: true, force: true });
});

function newFolder(): void {
  root = mkdtempSync(join(tmpdir(), 'start-again-'));
  stateDir = join(root, 'state');
  notes = [];
}

const onNote = (sentence: string) => notes.push(sentence);

async function start(options: ReplicaOptions = {}) {
  replica = await startReplica({ stateDir, onNote, ...options });
  const service = await deployLocally({ replica, stateDir, wasm, onNote });
  const headers = {
    Authorization: `Bearer ${service.apiKey}`,
    'Content-Type': 'application/octet-stream',
  };
  const address = `${service.url}/api/v1/bucket/demo/files`;
  return {
    ...service,
    put: (name: string, body: Uint8Array<ArrayBuffer>) =>
      fetch(`${address}/${name}`, { method: 'PUT', headers, body }),
    async get(name: string): Promise<Buffer> {
      const response = await fetch(`${service.url}/cloud/demo/${name}`);
      expect(response.status).toBe(200);
      return Buffer.from(await response.arrayBuffer());
    },
  };
}

async function stop(): Promise<void> {
  await replica?.stop();
  replica = undefined;
}

const bytes = new Uint8Array(sampleBytes('kept', 50_000));

async function stateWithFile(): Promise<string> {
  newFolder();
  await copyPreparedState(stateDir);
  const { put, canisterId } = await start();
  expect((await put('kept.bin', bytes)).status).toBe(201);
  await stop();
  return canisterId;
}

describe('service.json', () => {
  test.each([
    ['removed', undefined, /continues with canister/],
    ['empty', '', /empty or truncated/],
    ['truncated', '{"gateway": "http://', /empty or truncated/],
  ])('that is %s does not create a second canister', async (_, text, said) => {
    const canisterId = await stateWithFile();
    const path = join(stateDir, 'service.json');
    if (text === undefined) rmSync(path);
    else writeFileSync(path, text);
    const again = await start();
    expect(again.canisterId).toBe(canisterId);
    expect(replica?.canisters()).toHaveLength(1);
    expect(notes.join(' ')).toMatch(said);
    expect((await again.get('kept.bin')).equals(bytes)).toBe(true);
    expect((await again.put('more.bin', bytes)).status).toBe(201);
  });

  test("that names a missing canister is reported, as is a canister without its owner's key", async () => {
    await stateWithFile();
    const path = join(stateDir, 'service.json');
    const text = readFileSync(path, 'utf8');
    const elsewhere = { ...JSON.parse(text), canisterId: 'ryjl3-tyaaa-aaaaa-aaaba-cai' };
    writeFileSync(path, JSON.stringify(elsewhere));
    await expect(start()).rejects.toThrow(/which is not in the state: delete that file/);
    await stop();
    rmSync(path);
    writeFileSync(join(stateDir, 'identity.pem'), newIdentity());
    await expect(start()).rejects.toThrow(/belongs to the owner's key/);
    await stop();
    writeFileSync(path, text);
    expect((await (await start()).get('kept.bin')).equals(bytes)).toBe(true);
  });

  test('is written if the first start was killed before the installation', async () => {
    newFolder();
    const begun = await startReplica({ stateDir, server: false });
    const identityPem = newIdentity();
    writeFileSync(join(stateDir, 'identity.pem'), identityPem);
    const made = await begun.createCanister({ controllers: [principalOf(identityPem)] });
    await begun.stop();
    const { canisterId, put } = await start();
    expect(canisterId).toBe(made.toText());
    expect((await put('first.bin', bytes)).status).toBe(201);
    expect(existsSync(join(stateDir, 'service.json'))).toBe(true);
  });
});

describe('a damaged state', () => {
  function folderAfterKill(): void {
    const killed = join(root, 'killed');
    cpSync(stateDir, killed, { recursive: true });
    rmSync(join(killed, 'lock'));
    stateDir = killed;
  }

  test('is refused with a reason, and --repair restores the intact part and reports the losses', async () => {
    await stateWithFile();
    const { put } = await start();
    for (const name of ['one', 'two', 'three']) await put(`${name}.bin`, bytes);
    folderAfterKill();
    await stop();
    const journal = join(stateDir, 'journal');
    const content = readFileSync(journal);
    writeFileSync(journal, content.subarray(0, content.length / 2));
    await expect(start()).rejects.toThrow(
      /journal .* ends at commit \d+.* were answered.*--repair/,
    );
    const again = await start({ repair: true });
    expect(notes.join(' ')).toMatch(/The state is now as of change \d+: the \d+ changes after it/);
    expect((await again.get('kept.bin')).equals(bytes)).toBe(true);
    const found = [];
    for (const name of ['one', 'two', 'three']) {
      found.push((await fetch(`${again.url}/cloud/demo/${name}.bin`)).status);
    }
    expect(found).toEqual([...found].sort());
    expect(found.at(-1)).toBe(404);
    expect((await again.put('three.bin', bytes)).status).toBe(201);
  });

  test('of the heap only is repaired by starting as after an upgrade', async () => {
    const canisterId = await stateWithFile();
    const heap = join(stateDir, 'canisters', canisterId, 'heap.bin');
    const content = readFileSync(heap);
    content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
    writeFileSync(heap, content);
    await expect(start()).rejects.toThrow(/heap.bin is damaged/);
    const again = await start({ repair: true });
    expect(notes.join(' ')).toMatch(/heap of .* is lost.*nothing answered is lost/);
    expect((await again.get('kept.bin')).equals(bytes)).toBe(true);
  });
});

test('an upload that fills the disk is refused, and answered changes are kept', async () => {
  await stateWithFile();
  let room = Number.POSITIVE_INFINITY;
  const onDiskWrite = (length: number) => {
    room -= length;
    if (room < 0)
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
  const full = await start({ onDiskWrite });
  room = 3_000_000;
  const large = new Uint8Array(sampleBytes('large', 1_500_000));
  const answers: boolean[] = [];
  for (const name of ['a', 'b', 'c']) answers.push((await full.put(`${name}.bin`, large)).ok);
  expect(answers).toContain(false);
  expect((await full.get('kept.bin')).equals(bytes)).toBe(true);
  room = Number.POSITIVE_INFINITY;
  expect((await full.put('d.bin', large)).status).toBe(201);
  await stop();
  const again = await start();
  expect((await again.get('kept.bin')).equals(bytes)).toBe(true);
  for (const [index, name] of ['a', 'b', 'c'].entries()) {
    const { status } = await fetch(`${again.url}/cloud/demo/${name}.bin`);
    expect(status, name).toBe(answers[index] ? 200 : 404);
  }
  expect((await again.get('d.bin')).equals(large)).toBe(true);
});
