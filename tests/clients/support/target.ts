// The file that third-party clients download: a public file of eleven chunks on a local replica or,
// with EFS_CLIENTS_SERVER=static, on a plain file server, which validates the tests themselves.

import { createStorage } from '../../../packages/client/src/storage.ts';
import { seedOr } from '../../support/seed.ts';
import { openService, sampleBytes, sha256Hex } from '../../support/service.ts';
import { type CutOptions, type CuttingProxy, startCuttingProxy } from './cutting-proxy.ts';
import { startStaticServer } from './static-server.ts';

export interface PublicFile {
  /** Path of the file in the URL. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

export interface Target {
  /** On 127.0.0.1. */
  readonly port: number;
  /** 20 MB in parts of 1.9 MB. */
  readonly file: PublicFile;
  addFile(name: string, contentType: string, bytes: Uint8Array): Promise<PublicFile>;
  stop(): Promise<void>;
}

const fileBytes = 20_000_000;
const partBytes = 1_900_000;
const octets = 'application/octet-stream';

/** The kind that the environment names. */
export function targetKind(): 'service' | 'static' {
  return process.env.EFS_CLIENTS_SERVER === 'static' ? 'static' : 'service';
}

export async function openTarget(kind: 'service' | 'static'): Promise<Target> {
  const target = await (kind === 'static' ? openStatic() : openDeployed());
  const file = await target.addFile('large.bin', octets, sampleBytes('clients', fileBytes));
  return { ...target, file };
}

async function openStatic(): Promise<Omit<Target, 'file'>> {
  const server = await startStaticServer();
  return {
    port: server.port,
    async addFile(name, contentType, bytes) {
      const path = `/cloud/demo/clients/${name}`;
      server.add({ path, contentType, bytes });
      return { path, bytes, sha256: sha256Hex(bytes) };
    },
    stop: () => server.stop(),
  };
}

async function openDeployed(): Promise<Omit<Target, 'file'>> {
  const service = await openService();
  const { base: url, apiKey, bucket } = service;
  const storage = createStorage({ url, apiKey });
  return {
    port: Number(new URL(url).port),
    async addFile(name, contentType, bytes) {
      const path = `clients/${name}`;
      const headers = { 'Content-Disposition': `inline; filename="${name}"` };
      await storage.upload(bytes, { bucket, path, contentType, headers, chunkBytes: partBytes });
      return { path: `/cloud/${bucket}/${path}`, bytes, sha256: sha256Hex(bytes) };
    },
    stop: () => service.stop(),
  };
}

export const cutsOfEach = 3;

/** EFS_SEED, or a random one; always printed. */
function seedOf(name: string): number {
  const seed = seedOr(Math.floor(Math.random() * 2 ** 31));
  console.log(`${name}: connections are cut by EFS_SEED=${seed}`);
  return seed;
}

export type Cuts = Partial<Pick<CutOptions, 'cuts' | 'fromBytes' | 'toBytes' | 'manner'>>;

/** A network between the clients and the target that breaks three times by default. */
export function breakNetwork(name: string, target: Target, cuts: Cuts = {}): Promise<CuttingProxy> {
  const usual = { cuts: cutsOfEach, fromBytes: 1, toBytes: 6_000_000, manner: 'either' } as const;
  return startCuttingProxy({ port: target.port, seed: seedOf(name), ...usual, ...cuts });
}
