// The service that the acceptance tests talk to: one that runs elsewhere, named by the environment, or
// one on a local replica started for them.
//   EFS_URL          gateway URL of the canister, such as http://<id>.localhost:4943
//   EFS_CANISTER_ID  its id
//   EFS_API_KEY      key with all permissions on EFS_BUCKET (default demo)
//   EFS_FRONT_URL    gateway URL of its front, if it has one
//   EFS_IDENTITY     path of the PEM (PKCS #8, Ed25519) of a controller
// With EFS_JUDGE_HOST or EFS_JUDGE_SERVER, each test file gets a new canister on a network elsewhere:
// network/judged-service.ts.
// EFS_SUBNET_TYPE=cloud-engine starts the local one on a cloud engine, with a root key by a proxy.

import { createCipheriv, createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityFromPem } from '../../packages/client/src/node/identity.ts';
import { createServiceStorage } from '../../packages/client/src/service-storage.ts';
import { createStorage, type Storage } from '../../packages/client/src/storage.ts';
import {
  type Replica,
  type ReplicaOptions,
  startReplica,
} from '../../packages/replica/src/replica.ts';
import { checkedSubnetType } from '../../packages/replica/src/subnet-type.ts';
import { buildCanister } from '../../scripts/build.ts';
import { deployLocally } from '../../scripts/local-service.ts';
import { networkByAgent } from './network/agent-network.ts';
import { isJudged } from './network/elsewhere.ts';
import { openJudgedService } from './network/judged-service.ts';
import type { NetworkInterface } from './network/network-interface.ts';
import { networkInProcess } from './network/replica-network.ts';
import { copyPreparedState } from './prepared-state.ts';

export interface Service {
  /** The gateway's URL of this canister, the base of its files' addresses. */
  readonly base: string;
  /** The URL of the agent endpoints. */
  readonly host: string;
  readonly canisterId: string;
  readonly bucket: string;
  readonly apiKey: string;
  readonly identityPem: string;
  /** The local replica, if it is in this process. */
  readonly replica: Replica | undefined;
  readonly network: NetworkInterface;
  /** The gateway's URL of the front; `undefined` for a volume without one. */
  readonly frontUrl?: string | undefined;
  stop(): Promise<void>;
}

export interface ServiceOptions extends ReplicaOptions {
  /** Deploys a front beside the volume; EFS_FRONT=1 does so for every test. */
  readonly hasFront?: boolean;
  /** Volumes of the front; 1 by default. */
  readonly volumeCount?: number;
}

/** Opens the service that the environment names; with options, always starts a local one. */
export async function openService(options?: ServiceOptions): Promise<Service> {
  const { EFS_URL, EFS_CANISTER_ID, EFS_API_KEY, EFS_IDENTITY, EFS_BUCKET } = process.env;
  if (isJudged && !needsOwnReplica(options)) return openJudgedService(await builtModule());
  if (EFS_URL === undefined || options !== undefined) {
    return startLocalService(options);
  }
  const host = EFS_URL.replace(`//${EFS_CANISTER_ID}.`, '//');
  const identityPem = await readFile(required('EFS_IDENTITY', EFS_IDENTITY), 'utf8');
  return {
    base: EFS_URL,
    ...{ host, identityPem },
    canisterId: required('EFS_CANISTER_ID', EFS_CANISTER_ID),
    bucket: EFS_BUCKET ?? 'demo',
    apiKey: required('EFS_API_KEY', EFS_API_KEY),
    replica: undefined,
    network: networkByAgent({ host, identityPem, setTime: undefined }),
    frontUrl: process.env.EFS_FRONT_URL,
    stop: async () => {},
  };
}

/** `{ hasFront: false }` asks for a volume alone, which every network offers. */
function needsOwnReplica(options: ServiceOptions = {}): boolean {
  return Object.entries(options).some(([name, value]) => name !== 'hasFront' || value === true);
}

function required(name: string, value: string | undefined): string {
  if (value === undefined) {
    throw new Error(`With EFS_URL set, ${name} must be set too`);
  }
  return value;
}

async function builtModule(): Promise<Uint8Array> {
  const { wasmPath } = await buildCanister({ force: false });
  return new Uint8Array(await readFile(wasmPath));
}

async function startLocalService(options: ServiceOptions = {}): Promise<Service> {
  const { hasFront = process.env.EFS_FRONT === '1', volumeCount, ...replicaOptions } = options;
  const { EFS_SUBNET_TYPE = 'application' } = process.env;
  const { subnetType = checkedSubnetType(EFS_SUBNET_TYPE) } = replicaOptions;
  const folder = await mkdtemp(join(tmpdir(), 'service-'));
  const stateDir = join(folder, 'state');
  const wasm = await builtModule();
  await copyPreparedState(stateDir, subnetType);
  const stored = { sync: false, ...replicaOptions, stateDir, subnetType };
  const replica = await startReplica(stored);
  const description = await deployLocally({
    ...{ replica, stateDir, wasm, hasFront },
    ...(volumeCount !== undefined && { volumeCount }),
  });
  // With a single canister, the replica's plain URL is also a gateway URL, verified like any other;
  // not every system resolves <id>.localhost.
  const { url, canisterId, bucket, apiKey, identityPem, front } = description;
  return {
    base: url,
    host: url,
    canisterId,
    bucket,
    apiKey,
    identityPem,
    replica,
    network: networkInProcess(replica, identityPem),
    frontUrl: front?.gateway,
    async stop() {
      await replica.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the owner's client, which creates buckets at the front if there is one. */
export function ownerOf({ host, canisterId, identityPem, frontUrl }: Service): Storage {
  const identity = identityFromPem(identityPem);
  if (frontUrl === undefined) return createStorage({ host, canisterId, identity });
  const [front = ''] = new URL(frontUrl).hostname.split('.');
  return createServiceStorage({ host, front, identity });
}

/** Returns the same bytes for the same name, for any length: AES-CTR's key stream. */
export function sampleBytes(name: string, length: number): Uint8Array {
  const key = createHash('sha256').update(name).digest();
  const stream = createCipheriv('aes-256-ctr', key, new Uint8Array(16));
  return new Uint8Array(stream.update(new Uint8Array(length)));
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
