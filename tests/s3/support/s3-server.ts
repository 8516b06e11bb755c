// An S3 server in front of a service, and an S3 client for it: the SDK with a key pair that
// represents the service's owner.

import { mkdtempSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { bucketSecrets } from '../../../packages/client/src/bucket-secrets.ts';
import type { RetryPolicy } from '../../../packages/client/src/connection/retry.ts';
import { identityFromPem } from '../../../packages/client/src/node/identity.ts';
import { createNodeStorage } from '../../../packages/client/src/node/storage.ts';
import type { Storage, StorageOptions } from '../../../packages/client/src/storage.ts';
import {
  type Account,
  createS3Server,
  type S3ServerOptions,
} from '../../../packages/s3/src/index.ts';
import type { AccessKey } from '../../../packages/s3/src/signature/verify.ts';
import type { Service } from '../../support/service.ts';

export const ownerKey: AccessKey = {
  accessKeyId: 'AKIDOWNER0000000',
  secretAccessKey: 'owner-secret',
  access: { profile: 'owner' },
};

/** Represents the service's API key over HTTP. */
export const apiKey: AccessKey = {
  accessKeyId: 'AKIDAPIKEY000000',
  secretAccessKey: 'key-secret',
  access: { profile: 'key' },
};

export interface TestS3Server {
  readonly url: string;
  /** The storage of the service's owner. */
  readonly storage: Storage;
  readonly log: readonly string[];
  client(key?: AccessKey, config?: S3ClientConfig): S3Client;
  stop(): Promise<void>;
}

type ServedService = Pick<Service, 'host' | 'canisterId' | 'base' | 'apiKey' | 'identityPem'>;

export async function openS3Server(
  service: ServedService,
  options: Partial<S3ServerOptions> = {},
  retry: Partial<RetryPolicy> = {},
): Promise<TestS3Server> {
  const { host, canisterId, base: url } = service;
  const owner = ownerAccount(service, retry);
  const log: string[] = [];
  const s3Server = createS3Server({
    credentials: { find: async (id) => [ownerKey, apiKey].find((key) => key.accessKeyId === id) },
    openAccount: async (credential) => {
      if (credential?.accessKeyId === ownerKey.accessKeyId) return owner;
      return accountBy(
        credential === undefined ? { host, canisterId } : { url, apiKey: service.apiKey },
      );
    },
    log: (line) => log.push(line),
    multipart: { folder: mkdtempSync(join(tmpdir(), 'efs-s3-')), partBytesMin: 65_536 },
    ...options,
  });
  await new Promise<void>((resolve) => s3Server.server.listen(0, '127.0.0.1', resolve));
  const { port } = s3Server.server.address() as AddressInfo;
  const clients: S3Client[] = [];
  return {
    url: `http://127.0.0.1:${port}`,
    storage: owner.storage,
    log,
    client({ accessKeyId, secretAccessKey } = ownerKey, config = {}) {
      const client = new S3Client({
        endpoint: `http://127.0.0.1:${port}`,
        region: 'us-east-1',
        forcePathStyle: true,
        credentials: { accessKeyId, secretAccessKey },
        maxAttempts: 1,
        ...config,
      });
      clients.push(client);
      return client;
    },
    async stop() {
      for (const client of clients) client.destroy();
      await s3Server.close();
    },
  };
}

export function ownerAccount(
  { host, canisterId, identityPem }: Pick<ServedService, 'host' | 'canisterId' | 'identityPem'>,
  retry: Partial<RetryPolicy> = {},
): Account {
  return accountBy({ host, canisterId, identity: identityFromPem(identityPem), retry });
}

function accountBy(options: StorageOptions): Account {
  return { storage: createNodeStorage(options), secrets: bucketSecrets(options, {}) };
}
