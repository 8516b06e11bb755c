// Access to spaces of a kernel in Node, by its operations and as the canister itself does.

import { installKernelCall } from '../../src/crypto/kernel.ts';
import { type StableSpace, spaceRead } from '../../src/storage/stable-space.ts';
import { type KernelHost, startKernel } from './kernel-host.ts';

/** The offset in the host's memory of the buffer for the canister's reads and writes. */
export const bufferAt = 8_000_000n;

export function readSpace(space: StableSpace, offset: number, length: number): Uint8Array {
  const target = new Uint8Array(length);
  spaceRead({ space, offset }, target);
  return target;
}

export function linearWrite(host: KernelHost, offset: number, bytes: Uint8Array): void {
  new Uint8Array(host.memory.buffer).set(bytes, Number(bufferAt));
  host.exports.stable64_write(BigInt(offset), bufferAt, BigInt(bytes.length));
}

export function linearRead(host: KernelHost, offset: number, length: number): Uint8Array {
  host.exports.stable64_read(bufferAt, BigInt(offset), BigInt(length));
  return new Uint8Array(host.memory.buffer, Number(bufferAt), length).slice();
}

/** Starts a new instance on the same stable memory, which the operations use from then on. */
export async function upgradeKernel({ system }: KernelHost): Promise<KernelHost> {
  const host = await startKernel({ system });
  installKernelCall(host.gate);
  return host;
}
