// Actor methods over API keys.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import type { ApiKey } from '../domain/access/api-keys.ts';
import { createKey, listKeys, revokeKey } from '../domain/administration/api-key-management.ts';
import { answer, currentCall } from './call.ts';
import { ApiKeyRequest, ResultApiKeys, ResultNewApiKey, ResultNull } from './candid.ts';
import { query, update } from './method.ts';
import { startUpkeep, stores } from './runtime.ts';

interface ApiKeyArgument {
  name: string;
  buckets: string[];
  permissions: string[];
  expiresAt: [] | [bigint];
}

/** Without the hash: nothing of a key's look-up leaves the canister. */
function keyView(key: ApiKey) {
  const { id, hint, name, buckets, permissions, creator, createdAtNs, expiresAtNs } = key;
  const expiresAt = expiresAtNs === 0n ? [] : [expiresAtNs];
  const createdBy = creator.length === 0 ? [] : [Principal.fromUint8Array(creator)];
  return { id, hint, name, buckets, permissions, createdAt: createdAtNs, createdBy, expiresAt };
}

export class ApiKeysActor {
  @update([ApiKeyRequest], ResultNewApiKey)
  createApiKey(argument: ApiKeyArgument) {
    return answer(() => {
      const request = { ...argument, expiresAtNs: argument.expiresAt[0] };
      const { key, secret } = createKey(stores, currentCall(), request);
      return { ...keyView(key), secret };
    });
  }

  @query([IDL.Text], ResultApiKeys)
  listApiKeys(bucketId: string) {
    return answer(() => listKeys(stores, currentCall(), bucketId).map(keyView));
  }

  @update([IDL.Text], ResultNull)
  revokeApiKey(keyId: string) {
    return answer(() => {
      revokeKey(stores, currentCall(), keyId);
      startUpkeep();
      return null;
    });
  }
}
