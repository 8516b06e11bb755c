// Actor methods over API keys.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import {
  createKey,
  listKeys,
  revokeKey,
} from '../../domain/administration/api-key-administration.ts';
import type { ApiKey } from '../../domain/rights/api-keys.ts';
import { ApiKeyRequest, ResultApiKeys, ResultNewApiKey } from '../candid/operations.ts';
import { ResultNull } from '../candid/types.ts';
import { query, update } from '../dispatch/method.ts';
import { type ApiKeyArgument, keyRequestOf } from '../messages/api-key-arguments.ts';
import type { Optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { startUpkeep, stores } from '../runtime/runtime.ts';

/** Without the hash: nothing of a key's look-up leaves the canister. */
function keyView(key: ApiKey) {
  const { id, hint, name, buckets, permissions } = key;
  return {
    ...{ id, hint, name, buckets, permissions },
    prefix: key.prefix === '' ? [] : [key.prefix],
    createdAt: key.createdAtNs,
    createdBy: key.creator.length === 0 ? [] : [Principal.fromUint8Array(key.creator)],
    expiresAt: key.expiresAtNs === 0n ? [] : [key.expiresAtNs],
    updatesPerHour: limitOf(key.budget.updatesPerHour),
    bytesPerHour: limitOf(key.budget.bytesPerHour),
  };
}

/** Absent: no limit. */
function limitOf(perHour: number): Optional<bigint> {
  return perHour === 0 ? [] : [BigInt(perHour)];
}

/** API keys: what a program may do without an identity. */
export class ApiKeysActor {
  /** For owners of the buckets. The `secret` is in this answer and nowhere else. */
  @update([ApiKeyRequest], ResultNewApiKey)
  createApiKey(argument: ApiKeyArgument) {
    return answer(() => {
      const { key, secret } = createKey(stores, currentCall(), keyRequestOf(argument));
      return { ...keyView(key), secret };
    });
  }

  /** (bucketId) The keys of a bucket, for its owners. */
  @query([IDL.Text], ResultApiKeys)
  listApiKeys(bucketId: string) {
    return answer(() => listKeys(stores, currentCall(), bucketId).map(keyView));
  }

  /** (keyId) From now on the key opens nothing. */
  @update([IDL.Text], ResultNull)
  revokeApiKey(keyId: string) {
    return answer(() => {
      revokeKey(stores, currentCall(), keyId);
      startUpkeep();
      return null;
    });
  }
}
