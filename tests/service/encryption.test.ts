// Encryption at rest in the deployed Wasm on a replica with files on disk: what an attacker with
// the disk can read, and the effect of changes there.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDiskStore } from '../../packages/replica/src/persistence/disk-store.ts';
import { type Replica, startReplica } from '../../packages/replica/src/replica.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally, type ServiceDescription } from '../../scripts/local-service.ts';
import { findShared } from '../support/byte-windows.ts';
import {
  checksumOfChunk,
  chunkOf,
  keySlotBytes,
  keySlotsOf,
  realOffset,
  spaceBytes,
  tagBytes,
} from '../support/encryption-reference.ts';
import { copyPreparedState } from '../support/prepared-state.ts';
import { sampleBytes, sha256Hex } from '../support/service.ts';

const sizes = { segment: 70_000, key: 3_000, chunk: 5_000, record: 100, bystander: 150_000 };
type Name = keyof typeof sizes;
const damaged: readonly Name[] = ['segment', 'key', 'chunk', 'record'];

let folder: string;
let replica: Replica;
let service: ServiceDescription;

async function start() {
  const stateDir = join(folder, 'state');
  const wasm = new Uint8Array(await readFile((await buildCanister({ force: false })).wasmPath));
  replica = await startReplica({ stateDir, sync: false });
  service = await deployLocally({ replica, stateDir, wasm });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'encryption-'));
  await copyPreparedState(join(folder, 'state'));
  await start();
});

afterAll(async () => {
  await replica?.stop();
  await rm(folder, { recursive: true, force: true });
});

function bytesOf(name: Name): Uint8Array {
  return sampleBytes(name, sizes[name]);
}

function send(method: string, path: string, body?: Uint8Array): Promise<Response> {
  const headers = { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'text/plain' };
  const url = `${service.url}/api/v1/bucket/demo/files/${path}`;
  return fetch(url, { method, headers, ...(body && { body: body as BodyInit }) });
}

async function put(path: string, body: Uint8Array) {
  const response = await send('PUT', path, body);
  expect(response.status, await response.text()).toBeLessThan(300);
}

/** Returns the number of the content of a file's first version. */
async function contentOf(path: string): Promise<number> {
  const response = await send('GET', path);
  const { id } = (await response.json()) as { id: string };
  return Number.parseInt(id, 16);
}

function stableMemory(): Uint8Array {
  const { bytes, read } = replica.stableMemory(service.canisterId);
  return read(0, bytes);
}

/** Returns every offset of the bytes; entries of a stable map may leave old copies. */
function placesOf(stable: Uint8Array, bytes: Uint8Array): number[] {
  const image = Buffer.from(stable.buffer, stable.byteOffset, stable.byteLength);
  const places: number[] = [];
  for (let at = image.indexOf(bytes); at >= 0; at = image.indexOf(bytes, at + 1)) places.push(at);
  return places;
}

/** Returns the offsets of the records of the file's only chunk. */
function chunkPlaces(stable: Uint8Array, name: Name): number[] {
  const head = Buffer.from(`0220${sha256Hex(bytesOf(name))}`, 'hex');
  const segments = Math.ceil(sizes[name] / 65_536);
  return placesOf(stable, head).filter((at) => {
    const record = stable.slice(at, at + 64 + 8 * segments);
    return Buffer.from(checksumOfChunk(record)).equals(record.slice(56, 64));
  });
}

function segmentPlace(stable: Uint8Array, name: Name, segment: number): number {
  const [at = 0] = chunkPlaces(stable, name);
  const { slots } = chunkOf([new Uint8Array(16), stable.slice(at, at + 64 + 16)]);
  return realOffset(stable, { space: 1, offset: slots[segment] ?? -1 });
}

/**
 * Flips bits on disk and updates the replica's checksums, so that only the service can detect it.
 */
function flipOnDisk(places: readonly number[]): void {
  expect(places.length).toBeGreaterThan(0);
  const store = openDiskStore(join(folder, 'state'));
  const id = service.canisterId;
  const memory = store.stableMemory(id);
  for (const at of places) {
    const byte = new Uint8Array(1);
    memory.read(at, byte);
    memory.write(
      at,
      byte.map((bits) => bits ^ 0x10),
    );
  }
  store.commit({ canisters: [], stableMemories: [id], cleared: [], deleted: [] });
  store.close();
}

test('stable memory contains neither 16 bytes of a plaintext of 1 MB nor an erased key', async () => {
  const plaintext = sampleBytes('plaintext', 1_000_000);
  await put('plain.bin', plaintext);
  const contentId = await contentOf('plain.bin');
  const stable = stableMemory();
  expect(findShared(stable, plaintext, 16)).toBe(-1);
  // The present record, found by its digest: 16 segments with their tags.
  const [at = 0] = placesOf(stable, Buffer.from(`0220${sha256Hex(plaintext)}`, 'hex'));
  const { slots } = chunkOf([new Uint8Array(16), stable.slice(at, at + 64 + 8 * 16)]);
  const last = spaceBytes(stable, 1).subarray(slots[15], (slots[15] ?? 0) + 16_960 + tagBytes);
  expect(last.filter((byte) => byte !== 0).length).toBeGreaterThan(16_000);
  const slot = keySlotsOf(stable).used.find(({ ownerId }) => ownerId === contentId);
  const wrapped = slot?.bytes.slice(16, 76) ?? expect.fail('no key of the file');
  expect(findShared(stable, wrapped, 8)).toBeGreaterThan(0);
  expect((await send('DELETE', 'plain.bin')).status).toBe(204);
  expect(findShared(stableMemory(), wrapped, 8)).toBe(-1);
});

test('bytes altered on disk are refused, and everything else is served', async () => {
  for (const name of Object.keys(sizes) as Name[]) await put(name, bytesOf(name));
  const keyOwner = await contentOf('key');
  const stable = stableMemory();
  await replica.stop();
  const slot = keySlotsOf(stable).used.find(({ ownerId }) => ownerId === keyOwner)?.slot ?? 0;
  const keyPlace = realOffset(stable, { space: 4, offset: slot * keySlotBytes + 30 });
  const recordPlaces = placesOf(stable, Buffer.from('"path":"record"'));
  flipOnDisk([segmentPlace(stable, 'segment', 1) + 99, keyPlace]);
  flipOnDisk(chunkPlaces(stable, 'chunk').map((at) => at + 50));
  flipOnDisk(recordPlaces.map((at) => at + 9));
  await start();

  for (const name of damaged) {
    const response = await fetch(`${service.url}/cloud/demo/${name}`);
    const body = new Uint8Array(await response.arrayBuffer());
    // The query that reads the bytes detects the change.
    const isOfBytes = name === 'segment' || name === 'chunk';
    expect([name, response.status]).toEqual([name, isOfBytes ? 503 : 500]);
    expect(Buffer.from(body).toString()).toContain('IntegrityError');
    expect(findShared(body, bytesOf(name), 8)).toBe(-1);
  }
  const whole = await fetch(`${service.url}/cloud/demo/bystander`);
  expect(sha256Hex(new Uint8Array(await whole.arrayBuffer()))).toBe(
    sha256Hex(bytesOf('bystander')),
  );
  const range = { headers: { Range: 'bytes=0-65535' } };
  const beside = await fetch(`${service.url}/cloud/demo/segment`, range);
  expect(beside.status).toBe(206);
  const first = bytesOf('segment').subarray(0, 65_536);
  expect(sha256Hex(new Uint8Array(await beside.arrayBuffer()))).toBe(sha256Hex(first));

  for (const name of damaged) {
    if (name !== 'key') await put(name, bytesOf(name));
    else expect((await send('DELETE', name)).status).toBe(204);
    const response = await fetch(`${service.url}/cloud/demo/${name}`);
    expect([name, response.status]).toEqual([name, name === 'key' ? 404 : 200]);
    await response.arrayBuffer();
  }
});
