// Whether a canister works after its upgrade: its code, its status, a file and a certified answer.

import type { CanisterCode } from '../../../client/src/actor/canister-code.ts';
import { canisterAddress, isLoopback } from '../../../client/src/connection/canister-address.ts';
import type { Storage } from '../../../client/src/storage.ts';
import { isStorageError } from '../../../client/src/storage-error.ts';
import type { ModuleFile } from './module-file.ts';
import type { ServiceCanister } from './upgrade.ts';

export interface CheckTools {
  readonly code: CanisterCode;
  readonly host: string;
  readonly storage: Storage;
  /** A canister derives its keys again after an upgrade, which can take a while. */
  readonly waitMs: number;
}

const pauseMs = 1_000;
/** Larger files are not read. */
const readBytesMax = 2_000_000;

/** Repeats the check until it succeeds or the time is over; fails with the last error. */
export async function checkCanister(
  tools: CheckTools,
  canister: ServiceCanister,
  module: ModuleFile,
): Promise<void> {
  const end = Date.now() + tools.waitMs;
  for (;;) {
    try {
      return await checkOnce(tools, canister, module);
    } catch (error) {
      if (Date.now() >= end) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}

async function checkOnce(
  { code, host, storage }: CheckTools,
  { canisterId, role }: ServiceCanister,
  module: ModuleFile,
): Promise<void> {
  const { moduleHash } = await code.read(canisterId);
  if (moduleHash !== module.hash) {
    throw new Error(`${canisterId} runs the module ${moduleHash}, not ${module.hash}.`);
  }
  const { version } = await storage.status();
  if (version !== module.version) {
    throw new Error(`${canisterId} reports version ${version}, not ${module.version}.`);
  }
  if (role !== 'front') await readOneFile(storage);
  // Node does not resolve names below localhost
  const address = isLoopback(host)
    ? `${new URL(host).origin}/?canisterId=${canisterId}`
    : `${canisterAddress({ host, canisterId })}/`;
  // The gateway verifies the certificate
  const { status, body } = await fetch(address, { redirect: 'manual' });
  await body?.cancel();
  if (status >= 400) throw new Error(`GET ${address} was answered with status ${status}.`);
}

/** Reads the first small file that this caller can read; end-to-end buckets need other keys. */
async function readOneFile(storage: Storage): Promise<void> {
  for await (const bucket of storage.buckets.list()) {
    if (bucket.fileCount === 0 || bucket.endToEnd !== undefined) continue;
    try {
      for await (const { path, size } of storage.list({ bucket: bucket.id })) {
        if (size > readBytesMax) break;
        const { body } = await storage.download({ bucket: bucket.id, path });
        await new Response(body).arrayBuffer();
        return;
      }
    } catch (error) {
      if (!isStorageError(error, 'AccessDenied', 'NoSuchFile', 'NoSuchBucket')) throw error;
    }
  }
}
