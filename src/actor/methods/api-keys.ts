// Actor methods for API keys.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import {
  createKey,
  listKeys,
  revokeKey,
} from '../../domain/administration/api-key-administration.ts';
import type { ApiKey } from '../../domain/rights/api-keys.ts';
import { linkPageOf } from '../../domain/shared/role-record.ts';
import { ApiKeyRequest, ResultApiKeys, ResultNewApiKey } from '../candid/operations.ts';
import { ResultNull } from '../candid/types.ts';
import { query, update } from '../dispatch/method.ts';
import { type ApiKeyArgument, keyRequestOf } from '../messages/api-key-arguments.ts';
import { type Optional, optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { startUpkeep, stores } from '../runtime/runtime.ts';

/** Omits the hash, by which keys are found. */
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
    ...uploadLimits(key),
  };
}

/** Returns no value without a limit. */
function limitOf(limit: number): Optional<bigint> {
  return limit === 0 ? [] : [BigInt(limit)];
}

/** Returns the limits of an API key or an upload link for files. */
export function uploadLimits({ bounds }: ApiKey) {
  const { fileBytesMax = 0, filesMax = 0, fileCount = 0 } = bounds ?? {};
  const stored: Optional<bigint> = filesMax === 0 ? [] : [BigInt(fileCount)];
  return {
    maxFileBytes: limitOf(fileBytesMax),
    maxFiles: limitOf(filesMax),
    fileCount: stored,
  };
}

/** API keys: rights for programs without an identity. */
export class ApiKeysActor {
  /** Creates a key, for owners of its buckets. Only this answer contains the `secret`. */
  @update([ApiKeyRequest], ResultNewApiKey)
  createApiKey(argument: ApiKeyArgument) {
    return answer(() => {
      const { key, secret } = createKey(stores, currentCall(), keyRequestOf(argument));
      return { ...keyView(key), secret, linkPage: optional(linkPageOf(stores)) };
    });
  }

  /**
   * (bucketId) Lists the keys of a bucket, for its owners, who can also send it as an update: then
   * the network signs the reply.
   */
  @query([IDL.Text], ResultApiKeys)
  listApiKeys(bucketId: string) {
    return answer(() => listKeys(stores, currentCall(), bucketId).map(keyView));
  }

  /** (keyId) Revokes the key at once. */
  @update([IDL.Text], ResultNull)
  revokeApiKey(keyId: string) {
    return answer(() => {
      revokeKey(stores, currentCall(), keyId);
      startUpkeep();
      return null;
    });
  }
}
