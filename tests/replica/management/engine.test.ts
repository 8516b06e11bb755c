// The management canister on the real engine and the disk store: install, upgrade, stop and delete.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { sha256 } from '@noble/hashes/sha2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Outcome } from '../../../packages/replica/src/core.ts';
import { createEngine } from '../../../packages/replica/src/execution/engine.ts';
import { createManagement } from '../../../packages/replica/src/management/management.ts';
import { createSigningKeys } from '../../../packages/replica/src/management/signing-keys.ts';
import { createVetKeys } from '../../../packages/replica/src/management/vetkd.ts';
import { openDiskStore } from '../../../packages/replica/src/persistence/disk-store.ts';
import { assembledModule } from '../../support/gateway-canister/assembled-module.ts';
import { about, blob, encode, installMode, installRecord, owner } from './management-fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'replica-management-'));
const vetKeys = createVetKeys(new Uint8Array(32).fill(3));
const signingKeys = createSigningKeys(new Uint8Array(32));
const chunkHash = IDL.Record({ hash: blob });
let counter: Uint8Array;
let folders = 0;

beforeAll(async () => {
  counter = await assembledModule(join(import.meta.dirname, 'counter.wat'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function openEngine(folder: string) {
  const store = openDiskStore(folder);
  const random = () => crypto.getRandomValues(new Uint8Array(32));
  const engine = createEngine({
    store,
    now: () => BigInt(Date.now()) * 1_000_000n,
    dataCertificate: () => new Uint8Array(0),
    management: (lifecycle) => createManagement(lifecycle, { random, vetKeys, signingKeys }),
    rootKey: () => new Uint8Array(0),
  });
  return { store, engine };
}

async function withCanister() {
  folders += 1;
  const folder = join(root, String(folders));
  let { store, engine } = openEngine(folder);

  async function manage(method: string, arg: Uint8Array): Promise<Outcome> {
    const message = { sender: owner, canisterId: Principal.managementCanister(), method, arg };
    return (await engine.checkIngress(message)) ?? engine.update(message);
  }
  const create = IDL.Record({ specified_id: IDL.Opt(IDL.Principal) });
  const made = bytesOf(
    await manage('provisional_create_canister_with_cycles', encode(create, { specified_id: [] })),
  );
  const [{ canister_id: id }] = IDL.decode(
    [IDL.Record({ canister_id: IDL.Principal })],
    made,
  ) as unknown as [{ canister_id: Principal }];
  return {
    id,
    manage,
    install: (mode: object) =>
      manage(
        'install_code',
        encode(installRecord, { mode, canister_id: id, wasm_module: counter, arg: [] }),
      ),
    count: () =>
      engine.update({ sender: owner, canisterId: id, method: 'count', arg: new Uint8Array(0) }),
    view: () => engine.canister(id),
    async restart() {
      store.close();
      ({ store, engine } = openEngine(folder));
      expect(await engine.resume()).toEqual([]);
    },
    close: () => store.close(),
  };
}

function bytesOf(outcome: Outcome): Uint8Array {
  if (outcome.status === 'rejected') throw new Error(outcome.message);
  return outcome.arg;
}

/** The heap count and the stable count in the counter's reply. */
function counts(outcome: Outcome): readonly number[] {
  const bytes = Buffer.from(bytesOf(outcome));
  return [bytes.readUInt32LE(0), bytes.readUInt32LE(4)];
}

describe('the management canister on the engine', () => {
  test('stable memory survives an upgrade, the heap only a restart, and neither survives a reinstall', async () => {
    const { install, count, view, restart, close } = await withCanister();
    bytesOf(await install({ install: null }));
    expect(view()?.moduleHash).toEqual(sha256(counter));
    expect(counts(await count())).toEqual([1, 1]);
    expect(counts(await count())).toEqual([2, 2]);
    expect((await install({ install: null })).status).toBe('rejected');
    bytesOf(await install({ upgrade: [] }));
    expect(counts(await count())).toEqual([1, 3]);
    await restart();
    expect(counts(await count())).toEqual([2, 4]);
    bytesOf(await install({ reinstall: null }));
    expect(counts(await count())).toEqual([1, 1]);
    close();
  });

  test('installs from chunks', async () => {
    const { id, manage, count, close } = await withCanister();
    const upload = IDL.Record({ canister_id: IDL.Principal, chunk: blob });
    const hashes: unknown[] = [];
    for (let start = 0; start < counter.length; start += 100) {
      const chunk = counter.subarray(start, start + 100);
      const reply = bytesOf(
        await manage('upload_chunk', encode(upload, { canister_id: id, chunk })),
      );
      hashes.push(IDL.decode([chunkHash], reply)[0]);
    }
    const chunked = IDL.Record({
      mode: installMode,
      target_canister: IDL.Principal,
      chunk_hashes_list: IDL.Vec(chunkHash),
      wasm_module_hash: blob,
      arg: blob,
    });
    const value = {
      mode: { install: null },
      target_canister: id,
      chunk_hashes_list: hashes,
      wasm_module_hash: sha256(counter),
      arg: [],
    };
    bytesOf(await manage('install_chunked_code', encode(chunked, value)));
    expect(counts(await count())).toEqual([1, 1]);
    close();
  });

  test('a stopped canister rejects calls, and only a stopped one can be deleted', async () => {
    const { id, manage, install, count, view, close } = await withCanister();
    bytesOf(await install({ install: null }));
    expect((await manage('delete_canister', about(id))).status).toBe('rejected');
    bytesOf(await manage('stop_canister', about(id)));
    expect(view()?.status).toBe('stopped');
    expect(await count()).toMatchObject({ status: 'rejected', errorCode: 'IC0508' });
    bytesOf(await manage('start_canister', about(id)));
    expect(counts(await count())).toEqual([1, 1]);
    bytesOf(await manage('stop_canister', about(id)));
    bytesOf(await manage('delete_canister', about(id)));
    expect(view()).toBeUndefined();
    close();
  });

  test('canister_status returns the module hash, and uninstall_code removes code and memory', async () => {
    const { id, manage, install, view, close } = await withCanister();
    bytesOf(await install({ install: null }));
    const status = IDL.Record({ module_hash: IDL.Opt(blob), memory_size: IDL.Nat });
    const [told] = IDL.decode([status], bytesOf(await manage('canister_status', about(id))));
    expect(told).toMatchObject({ module_hash: [sha256(counter)] });
    expect((told as unknown as { memory_size: bigint }).memory_size).toBeGreaterThanOrEqual(
      131_072n,
    );
    bytesOf(await manage('uninstall_code', about(id)));
    expect(view()).toMatchObject({ moduleHash: undefined, stableBytes: 0 });
    close();
  });
});
