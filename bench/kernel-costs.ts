// Costs of the kernel's operations per byte, by the replica's meter.

import { startReplica } from '../packages/replica/src/replica.ts';
import { sealInPlace } from '../src/crypto/aead.ts';
import { sha256 } from '../src/crypto/hash.ts';
import { installKernelCall } from '../src/crypto/kernel.ts';
import { openRelay, type Relay } from './kernel-relay.ts';

export interface KernelCost {
  readonly operation: string;
  readonly bytes: number;
  readonly instructionsPerByte: number;
}

/** Returns the kernel calls that `operation` makes, so that a canister can repeat them. */
export function recordKernelCalls(operation: () => unknown): Uint8Array[] {
  const buffers: Uint8Array[] = [];
  installKernelCall((bytes) => buffers.push(bytes.slice()));
  operation();
  return buffers;
}

const sizes = [65_536, 1_900_000];

export async function measureKernel(): Promise<KernelCost[]> {
  const replica = await startReplica({ server: false });
  try {
    const relay = await openRelay(replica);
    const costs: KernelCost[] = [];
    for (const bytes of sizes) {
      costs.push(await measure(relay, { operation: 'seal', bytes, run: seal }));
      costs.push(await measure(relay, { operation: 'SHA-256', bytes, run: sha256 }));
    }
    return costs;
  } finally {
    await replica.stop();
  }
}

function seal(data: Uint8Array): void {
  const context = { key: new Uint8Array(32), nonce: new Uint8Array(12) };
  sealInPlace({ ...context, associatedData: new Uint8Array(16), data });
}

async function measure(
  relay: Relay,
  what: {
    readonly operation: string;
    readonly bytes: number;
    readonly run: (data: Uint8Array) => unknown;
  },
): Promise<KernelCost> {
  const { operation, bytes, run } = what;
  const buffers = recordKernelCalls(() => run(new Uint8Array(bytes)));
  const { instructions } = await relay.send(buffers);
  return { operation, bytes, instructionsPerByte: instructions / bytes };
}
