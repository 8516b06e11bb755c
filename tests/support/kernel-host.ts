// Hosts the bare kernel in Node: a linear memory and a small System API. JavaScript's arrays are
// not in that memory, so operands are copied in before an operation and copied back after it.

import { buildKernel } from '../../scripts/kernel.ts';
import { installKernelCall, type KernelCall } from '../../src/crypto/kernel.ts';

/** The part of V8's interface that is used here; TypeScript declares it only for browsers. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export interface WasmInterface {
  readonly Memory: new (limits: { initial: number; maximum: number }) => WasmMemory;
  readonly Table: new (limits: { initial: number; element: 'anyfunc' }) => object;
  compile(wasm: Uint8Array): Promise<object>;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  instantiate(wasm: Uint8Array, imports: object): Promise<{ instance: { exports: unknown } }>;
}

export const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: WasmInterface };

const pageBytes = 65_536;
const failed = 0xffff_ffff_ffff_ffffn;

/**
 * The memory and state behind the functions of module `sys`. It outlives an instance, as stable
 * memory outlives an upgrade.
 */
export class FakeSystem {
  stable = new Uint8Array(0);
  stablePagesMax = 16_384;
  certifiedData = new Uint8Array(0);
  printed: string[] = [];
  rejectMessage = '';
  /** The appended bytes of the reply; `isReplied` says whether they have been sent. */
  reply: Buffer = Buffer.alloc(0);
  isReplied = false;

  pages(): number {
    return this.stable.length / pageBytes;
  }

  grow(pages: bigint): bigint {
    const former = this.stable.length / pageBytes;
    if (BigInt(former) + BigInt.asUintN(64, pages) > BigInt(this.stablePagesMax)) return failed;
    this.#resize((former + Number(pages)) * pageBytes);
    return BigInt(former);
  }

  /** Spaces grow by a megabyte at a time, so doubling the capacity avoids most copies. */
  #resize(size: number): void {
    let { buffer } = this.stable;
    if (size > buffer.byteLength) {
      const larger = new Uint8Array(Math.max(size, 2 * this.stable.length));
      larger.set(this.stable);
      buffer = larger.buffer;
    }
    this.stable = new Uint8Array(buffer, 0, size);
  }

  /** V8 passes 64-bit integers as signed. */
  range(signedOffset: bigint, size: bigint): Uint8Array {
    const offset = BigInt.asUintN(64, signedOffset);
    const end = offset + BigInt.asUintN(64, size);
    if (end > BigInt(this.stable.length)) throw new Error('stable memory out of bounds');
    return this.stable.subarray(Number(offset), Number(end));
  }
}

export interface KernelExports {
  certified_data_set(pointer: number, length: number): void;
  debug_print(pointer: number, length: number): void;
  msg_reject_msg_size(): number;
  msg_reject_msg_copy(target: number, offset: number, size: number): void;
  stable64_size(): bigint;
  stable64_grow(pages: bigint): bigint;
  stable64_read(target: bigint, offset: bigint, size: bigint): void;
  stable64_write(offset: bigint, source: bigint, size: bigint): void;
}

export interface KernelHost {
  readonly gate: KernelCall;
  readonly exports: KernelExports;
  readonly memory: WasmMemory;
  readonly system: FakeSystem;
}

export interface KernelHostOptions {
  readonly system?: FakeSystem;
  /** Operands start at addresses with this remainder modulo 16. */
  readonly misalignment?: number;
  /** Number of pages by which the memory may grow beyond the pages for operands. */
  readonly heapPagesMax?: number;
}

let kernelModule: Promise<object> | undefined;

/** Returns a new instance of the kernel, as after an install or an upgrade. */
export async function startKernel(options: KernelHostOptions = {}): Promise<KernelHost> {
  const { system = new FakeSystem(), misalignment = 0, heapPagesMax = 64 } = options;
  const arenaPages = 256;
  const memory = new WebAssembly.Memory({
    initial: arenaPages,
    maximum: arenaPages + heapPagesMax,
  });
  const table = new WebAssembly.Table({ initial: 1, element: 'anyfunc' });
  const imports = {
    env: { memory, table },
    sys: systemFunctions(system, memory),
    data: { merged_data_size: () => 0, merged_data_read: refuseCall },
  };
  kernelModule ??= WebAssembly.compile(await buildKernel());
  const exports = new WebAssembly.Instance(await kernelModule, imports).exports as KernelExports;
  const gate = createKernelCall({ exports, memory, misalignment });
  return { gate, exports, memory, system };
}

/** Starts a kernel and makes src/crypto call it. */
export async function installNodeKernel(options: KernelHostOptions = {}): Promise<KernelHost> {
  const host = await startKernel(options);
  installKernelCall(host.gate);
  return host;
}

/** System functions for outgoing calls, which exist only in a replica. */
const callFunctions = [
  'call_new',
  'call_on_cleanup',
  'call_perform',
  'call_with_best_effort_response',
  'canister_liquid_cycle_balance128',
  'canister_self_copy',
  'canister_self_size',
  'canister_version',
  'cost_create_canister',
  'cost_vetkd_derive_key',
  'env_var_name_exists',
  'env_var_value_copy',
  'env_var_value_size',
  'global_timer_set',
  'msg_caller_copy',
  'msg_caller_size',
  'msg_reject',
];

function refuseCall(): never {
  throw new Error('this host cannot call other canisters');
}

/** The part of the System API that the kernel uses. */
export function systemFunctions(
  system: FakeSystem,
  memory: WasmMemory,
): Record<string, (...values: never[]) => unknown> {
  const heap = (start: bigint, size: bigint) =>
    new Uint8Array(memory.buffer, Number(start), Number(size));
  return {
    ...Object.fromEntries(callFunctions.map((name) => [name, refuseCall])),
    certified_data_set: (pointer: number, length: number) => {
      if (length > 32) throw new Error('certified data is longer than 32 bytes');
      system.certifiedData =
        length === 0 ? new Uint8Array(0) : heap(BigInt(pointer), BigInt(length)).slice();
    },
    debug_print: (pointer: number, length: number) => {
      system.printed.push(Buffer.from(heap(BigInt(pointer), BigInt(length))).toString());
    },
    msg_reply_data_append: (pointer: number, length: number) => {
      system.reply = Buffer.concat([system.reply, heap(BigInt(pointer), BigInt(length))]);
    },
    msg_reply: () => {
      system.isReplied = true;
    },
    msg_reject_msg_size: () => Buffer.byteLength(system.rejectMessage),
    msg_reject_msg_copy: (target: number, offset: number, size: number) => {
      const message = Buffer.from(system.rejectMessage).subarray(offset, offset + size);
      heap(BigInt(target), BigInt(size)).set(message);
    },
    trap: (pointer: number, length: number) => {
      throw new Error(Buffer.from(heap(BigInt(pointer), BigInt(length))).toString());
    },
    stable64_size: () => BigInt(system.pages()),
    stable64_grow: (pages: bigint) => system.grow(pages),
    stable64_read: (target: bigint, offset: bigint, size: bigint) => {
      const source = system.range(offset, size);
      heap(target, size).set(source);
    },
    stable64_write: (offset: bigint, source: bigint, size: bigint) => {
      const target = system.range(offset, size);
      target.set(heap(source, size));
    },
  };
}

export interface GateParts {
  readonly exports: Pick<KernelExports, 'certified_data_set'>;
  readonly memory: WasmMemory;
  readonly misalignment: number;
}

interface Lent {
  readonly bytes: Uint8Array;
  readonly address: number;
}

/** Returns the call of the kernel in a module, which goes through `certified_data_set`. */
export function createKernelCall({ exports, memory, misalignment }: GateParts): KernelCall {
  const arenaStart = 1024;
  const arenaEnd = memory.buffer.byteLength;
  let lent: Lent[] = [];
  let free = arenaStart;
  let awaited = 0;
  const giveBack = () => {
    for (const { bytes, address } of lent) {
      bytes.set(new Uint8Array(memory.buffer, address, bytes.length));
    }
  };
  const reset = () => {
    lent = [];
    free = arenaStart;
    awaited = 0;
  };
  return (bytes) => {
    const address = free + misalignment;
    if (address + bytes.length > arenaEnd) throw new Error('The kernel host has no room left');
    free = (address + bytes.length + 31) & ~15;
    new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
    awaited = lent.length > 0 ? awaited - 1 : operandsOf(bytes);
    lent.push({ bytes, address });
    try {
      // An empty array has no memory, so any address must work, even an invalid one
      exports.certified_data_set(bytes.length === 0 ? 0xffff_ffff : address, bytes.length);
    } catch (error) {
      reset();
      throw error;
    }
    if (awaited > 0) return;
    giveBack();
    reset();
  };
}

/** Returns the number of operands of a command block, kernel/kernel-call.ts; 0 for plain certified data. */
function operandsOf(bytes: Uint8Array): number {
  if (bytes.length !== 64) return 0;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getUint32(20, true);
}
