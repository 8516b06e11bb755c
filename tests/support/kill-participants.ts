// Canisters on a replica that is killed repeatedly: a counter in three kinds of memory, the
// service, and third-party canisters that the environment names (tests/foreign). Each checks that
// its acknowledged steps still exist.

import { strictEqual } from 'node:assert';
import { gunzipSync } from 'node:zlib';
import { IDL } from '@dfinity/candid';
import type { Replica } from '../../packages/replica/src/replica.ts';
import { counterMethods, counterValue } from '../foreign/support/counter-methods.ts';
import { foreignFiles, readForeign } from '../foreign/support/foreign-files.ts';
import { canister } from './wasm-canisters/text-module.ts';

/** Any ids that the replica has not used. */
const counterId = 'ryjl3-tyaaa-aaaaa-aaaba-cai';
const assetsId = 'r7inp-6aaaa-aaaaa-aaabq-cai';
const foreignCounterId = 'rkp4c-7iaaa-aaaaa-aaaca-cai';

export interface Run {
  readonly replica: Replica;
  readonly url: string;
  /** The API key of the service. */
  readonly apiKey: string;
}

export interface Participant {
  readonly name: string;
  /** Called once, before the first kill. */
  prepare?(replica: Replica): Promise<void>;
  /**
   * `answered`: the newest steps, oldest first. Fails if one of them is missing. Returns the number
   * that the next step must exceed.
   */
  check(run: Run, answered: readonly number[]): Promise<number>;
  /** Runs a step; resolves to its number once it is answered. */
  step(run: Run, count: number): Promise<number>;
}

/** Returns 1 to 300 kB that no other file has. */
function fileBytes(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(1_000 + ((count * 7_919) % 300_000));
  bytes.fill(count % 251);
  new DataView(bytes.buffer).setUint32(0, count);
  return bytes;
}

async function expectServed(address: string, count: number): Promise<void> {
  const response = await fetch(address);
  strictEqual(response.status, 200, address);
  const bytes = Buffer.from(await response.arrayBuffer());
  strictEqual(bytes.equals(fileBytes(count)), true, address);
}

/** One step after the newest printed one may be durable: the kill can come before its line. */
function expectCount(count: number, answered: readonly number[]): void {
  const newest = answered.at(-1);
  if (newest === undefined) return;
  strictEqual(count === newest || count === newest + 1, true, `count ${count}, not ${newest}`);
}

/** The counter's value: step() increments it and ignores `count`, which numbers the rounds. */
let counted = 0;

/** Counts in the heap, in a global and in stable memory. */
const counter: Participant = {
  name: 'count',
  async prepare(replica) {
    const wasm = canister(
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
    await replica.createCanister({ id: counterId });
    await replica.install(counterId, wasm);
  },
  async check({ replica }, answered) {
    const read = async (method: string) => counterValue(await replica.query(counterId, method));
    counted = await read('heap');
    expectCount(counted, answered);
    strictEqual(await read('global'), counted);
    strictEqual(await read('stable'), counted);
    return counted;
  },
  async step({ replica }) {
    await replica.call(counterId, 'inc');
    counted += 1;
    return counted;
  },
};

const service: Participant = {
  name: 'file',
  async check({ url }, answered) {
    for (const file of answered) await expectServed(`${url}/cloud/demo/kept/${file}.bin`, file);
    return answered.at(-1) ?? 0;
  },
  async step({ url, apiKey }, count) {
    const place = `${url}/api/v1/bucket/demo/files/kept/${count}.bin`;
    const response = await fetch(place, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/octet-stream' },
      body: fileBytes(count),
    });
    if (!response.ok) throw new Error(`put ${count}: ${response.status} ${await response.text()}`);
    return count;
  },
};

const storeArgument = IDL.Record({
  key: IDL.Text,
  content_type: IDL.Text,
  content_encoding: IDL.Text,
  content: IDL.Vec(IDL.Nat8),
  sha256: IDL.Opt(IDL.Vec(IDL.Nat8)),
});

/** DFINITY's asset canister, which stores everything on its heap. */
function assets(path: string): Participant {
  return {
    name: 'asset',
    async prepare(replica) {
      await replica.createCanister({ id: assetsId });
      await replica.install(assetsId, readForeign(path));
    },
    async check({ url }, answered) {
      for (const asset of answered) {
        await expectServed(`${url}/kept/${asset}.bin?canisterId=${assetsId}`, asset);
      }
      return answered.at(-1) ?? 0;
    },
    async step({ replica }, count) {
      const asset = {
        key: `/kept/${count}.bin`,
        content_type: 'application/octet-stream',
        content_encoding: 'identity',
        content: fileBytes(count),
        sha256: [],
      };
      const arg = new Uint8Array(IDL.encode([storeArgument], [asset]));
      await replica.call(assetsId, 'store', arg);
      return count;
    },
  };
}

/** A third-party counter, for example in Motoko, with an update that counts. */
function foreignCounter(path: string): Participant {
  const bytes = readForeign(path);
  const { read, step } = counterMethods(bytes[0] === 0x1f ? gunzipSync(bytes) : bytes);
  if (step === undefined) throw new Error(`${path} has no update that counts`);
  let value = 0;
  return {
    name: 'foreign',
    async prepare(replica) {
      await replica.createCanister({ id: foreignCounterId });
      await replica.install(foreignCounterId, bytes);
    },
    async check({ replica }, answered) {
      value = counterValue(await replica.query(foreignCounterId, read));
      expectCount(value, answered);
      return value;
    },
    async step({ replica }) {
      await replica.call(foreignCounterId, step);
      value += 1;
      return value;
    },
  };
}

export const participants: readonly Participant[] = [
  counter,
  service,
  ...foreignFiles('assets').slice(0, 1).map(assets),
  ...foreignFiles('counter').slice(0, 1).map(foreignCounter),
];
