// A listening replica for end-to-end tests: engine, management canister and agent endpoints on the
// real HTTP server, with the test canister installed.

import { randomBytes } from 'node:crypto';
import { Principal } from '@dfinity/principal';
import { createAgentEndpoints } from '../../../packages/replica/src/agent/agent-endpoints.ts';
import type { RunningEngine } from '../../../packages/replica/src/execution/engine.ts';
import { createEngine } from '../../../packages/replica/src/execution/engine.ts';
import { startHttpServer } from '../../../packages/replica/src/http-server.ts';
import { effectiveCanisterId } from '../../../packages/replica/src/management/access.ts';
import { createManagement } from '../../../packages/replica/src/management/management.ts';
import { createSigningKeys } from '../../../packages/replica/src/management/signing-keys.ts';
import { createVetKeys } from '../../../packages/replica/src/management/vetkd.ts';
import { createMemoryStore } from '../../../packages/replica/src/persistence/memory-store.ts';
import type { Certification } from '../../../packages/replica/src/state/certification.ts';
import { createCertification } from '../../../packages/replica/src/state/certification.ts';
import { testCanister } from './test-canister.ts';

export interface TestReplica {
  readonly url: string;
  readonly canisterId: Principal;
  readonly certification: Certification;
  readonly engine: RunningEngine;
  close(): Promise<void>;
}

/** @param options.offsetNs how far the replica's clock is ahead of the machine's. */
export async function startTestReplica(options: { offsetNs: bigint }): Promise<TestReplica> {
  const now = () => BigInt(Date.now()) * 1_000_000n + options.offsetNs;
  const certification = createCertification({ rootSecret: undefined, engine: () => engine });
  const engine: RunningEngine = createEngine({
    store: createMemoryStore(),
    now,
    dataCertificate: certification.dataCertificate,
    rootKey: certification.rootKey,
    management: (lifecycle) =>
      createManagement(lifecycle, {
        random: () => new Uint8Array(randomBytes(32)),
        vetKeys: createVetKeys(new Uint8Array(32)),
        signingKeys: createSigningKeys(new Uint8Array(32)),
      }),
  });
  const canisterId = await installTestCanister(engine);
  const endpoints = createAgentEndpoints({ engine, certification, now, effectiveCanisterId });
  const server = await startHttpServer({
    port: 0,
    allowedOrigins: new Set(),
    handleApi: (request) => endpoints.handle(request),
    gateway: {
      handle: async (_, response) => {
        response.writeHead(404).end();
      },
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  return { url, canisterId, certification, engine, close: () => server.close() };
}

async function installTestCanister(engine: RunningEngine): Promise<Principal> {
  const sender = Principal.anonymous();
  const canisterId = engine.create({ controllers: [sender], cycles: 10n ** 15n });
  if (!(canisterId instanceof Principal)) throw new Error(canisterId.message);
  const reject = await engine.install({
    canisterId,
    mode: 'install',
    module: testCanister(),
    arg: new Uint8Array(),
    sender,
  });
  if (reject !== undefined) throw new Error(reject.message);
  return canisterId;
}
