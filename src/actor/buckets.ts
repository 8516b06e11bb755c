// Actor methods over buckets and their API keys.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { update } from 'azle';
import { type Bucket, createBucket } from '../domain/buckets.ts';
import { checkKeyRequest, createKey } from '../domain/keys.ts';
import { answer, answerAsync, currentCall } from './call.ts';
import { ApiKeyRequest, ResultBucket, ResultNewApiKey } from './candid.ts';
import { randomBytes, stores } from './runtime.ts';

const keySecretBytes = 32;

interface ApiKeyArgument {
  name: string;
  buckets: string[];
  permissions: string[];
  expiresAt: [] | [bigint];
}

function bucketView(bucket: Bucket) {
  const { createdAtNs: createdAt, updatedAtNs: updatedAt } = bucket;
  return { ...bucket, owner: Principal.fromUint8Array(bucket.owner), createdAt, updatedAt };
}

export class BucketsActor {
  @update([IDL.Text], ResultBucket)
  createBucket(bucketId: string) {
    return answer(() => bucketView(createBucket(stores, currentCall(), bucketId)));
  }

  @update([ApiKeyRequest], ResultNewApiKey)
  createApiKey(argument: ApiKeyArgument) {
    return answerAsync(async () => {
      const call = currentCall();
      const request = { ...argument, expiresAtNs: argument.expiresAt[0] };
      checkKeyRequest(stores, call, request);
      const random = await randomBytes(keySecretBytes);
      const { key, secret } = createKey(stores, call, { ...request, random });
      return { ...key, secret, createdAt: key.createdAtNs, expiresAt: argument.expiresAt };
    });
  }
}
