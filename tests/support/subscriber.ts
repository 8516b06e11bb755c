// A canister that subscribes a bucket: its method efs_events appends each argument to a log in
// stable memory, which an upgrade keeps, and then replies or fails as it was told.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { createInProcessCalls } from '../../packages/replica/src/in-process-calls.ts';
import { JournalEvents } from '../../src/actor/candid/journal-events.ts';
import type { KeyNetwork } from './key-network.ts';
import { owner } from './key-network.ts';
import { canister } from './wasm-canisters/text-module.ts';

/** Slow: replies once the management canister has answered it. Large: replies with 2 MB. */
const subscriberModes = ['prompt', 'trapping', 'slow', 'rejecting', 'large'] as const;
export type SubscriberMode = (typeof subscriberModes)[number];

// Stable memory: mode u32 | nothing u32 | end of the log u64 | entries: length u32, bytes
const headBytes = 16;
const stablePages = 512;
const imports = [
  ...['msg_arg_data_size', 'msg_arg_data_copy', 'msg_reject', 'stable64_grow'],
  ...['stable64_read', 'stable64_write', 'call_new', 'call_data_append', 'call_perform'],
];

const source = `(memory 64)
  (table 2 funcref) (elem (i32.const 0) $answer $refuse)
  (data (i32.const 64) "raw_rand")
  (data (i32.const 80) "DIDL\\00\\00")
  (func $answer (param i32)
    (call $msg_reply_data_append (i32.const 80) (i32.const 6))
    (call $msg_reply))
  (func $refuse (param i32) (call $msg_reject (i32.const 64) (i32.const 8)))
  (func (export "canister_init")
    (drop (call $stable64_grow (i64.const ${stablePages})))
    (i64.store (i32.const 8) (i64.const ${headBytes}))
    (call $stable64_write (i64.const 0) (i64.const 0) (i64.const ${headBytes})))
  (func (export "canister_update mode")
    (call $msg_arg_data_copy (i32.const 0) (i32.const 0) (i32.const 1))
    (call $stable64_write (i64.const 0) (i64.const 0) (i64.const 1))
    (call $msg_reply))
  (func (export "canister_update efs_events") (local $mode i32) (local $size i32)
    (call $stable64_read (i64.const 0) (i64.const 0) (i64.const ${headBytes}))
    (local.set $mode (i32.load8_u (i32.const 0)))
    (local.set $size (call $msg_arg_data_size))
    (i32.store (i32.const 1020) (local.get $size))
    (call $msg_arg_data_copy (i32.const 1024) (i32.const 0) (local.get $size))
    (call $stable64_write (i64.load (i32.const 8)) (i64.const 1020)
      (i64.extend_i32_u (i32.add (local.get $size) (i32.const 4))))
    (i64.store (i32.const 8)
      (i64.add (i64.load (i32.const 8))
        (i64.extend_i32_u (i32.add (local.get $size) (i32.const 4)))))
    (call $stable64_write (i64.const 0) (i64.const 0) (i64.const ${headBytes}))
    (if (i32.eq (local.get $mode) (i32.const 1)) (then unreachable))
    (if (i32.eq (local.get $mode) (i32.const 3))
      (then (call $refuse (i32.const 0)) (return)))
    (if (i32.eq (local.get $mode) (i32.const 4))
      (then (call $msg_reply_data_append (i32.const 1024) (i32.const 2000000))))
    (if (i32.eq (local.get $mode) (i32.const 2))
      (then
        (call $call_new (i32.const 0) (i32.const 0) (i32.const 64) (i32.const 8)
          (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 0))
        (call $call_data_append (i32.const 80) (i32.const 6))
        (if (call $call_perform) (then unreachable))
        (return)))
    (call $answer (i32.const 0)))`;

export const subscriberModule = (): Uint8Array => canister(imports, source);

export interface ReceivedEvents {
  readonly bucketId: string;
  readonly subscription: bigint;
  readonly after: bigint;
  readonly cursor: bigint;
  readonly entries: readonly {
    readonly seq: bigint;
    readonly kind: string;
    readonly subject: string;
  }[];
}

/** `read`: returns the beginning of the stable memory of the subscriber. */
export function receivedIn(read: (length: number) => Uint8Array): ReceivedEvents[] {
  const end = Number(Buffer.from(read(headBytes)).readBigUInt64LE(8));
  const log = Buffer.from(read(end));
  const found: ReceivedEvents[] = [];
  for (let start = headBytes; start < end; ) {
    const length = log.readUInt32LE(start);
    const bytes = new Uint8Array(log.subarray(start + 4, start + 4 + length));
    found.push(IDL.decode([JournalEvents], bytes)[0] as unknown as ReceivedEvents);
    start += 4 + length;
  }
  return found;
}

export class Subscriber {
  readonly #network: KeyNetwork;
  readonly id: Principal;

  private constructor(network: KeyNetwork, id: Principal) {
    this.#network = network;
    this.id = id;
  }

  static async install(network: KeyNetwork): Promise<Subscriber> {
    const calls = createInProcessCalls(network.engine);
    const id = await calls.createCanister({ controllers: [owner] });
    await calls.install(id, subscriberModule(), undefined, { sender: owner });
    return new Subscriber(network, id);
  }

  async become(mode: SubscriberMode): Promise<void> {
    const argument = Uint8Array.of(subscriberModes.indexOf(mode));
    await createInProcessCalls(this.#network.engine).call(this.id, 'mode', argument);
  }

  upgrade(): Promise<void> {
    const calls = createInProcessCalls(this.#network.engine);
    return calls.upgrade(this.id, subscriberModule(), undefined, { sender: owner });
  }

  /** Returns the arguments that the method has received, without those that it trapped on. */
  received(): ReceivedEvents[] {
    const { engine } = this.#network;
    return receivedIn((length) => engine.readStable(this.id, 0, length));
  }

  /** Returns each entry that has arrived at its first arrival. */
  entries(): ReceivedEvents['entries'][number][] {
    const seen = new Set<bigint>();
    return this.received().flatMap(({ entries }) =>
      entries.filter(({ seq }) => !seen.has(seq) && seen.add(seq)),
    );
  }

  /** Returns the paths of the stored files that have arrived. */
  paths(): string[] {
    const stored = this.entries().filter(({ kind }) => kind === 'file.stored');
    return stored.map(({ subject }) => subject);
  }
}
