// Actor methods over API keys.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { type ApiKey, checkKeyRequest, createKey, listKeys, revokeKey } from '../domain/keys.ts';
import { answer, currentCall } from './call.ts';
import { ApiKeyRequest, ResultApiKeys, ResultNewApiKey, ResultNull } from './candid.ts';
import { query, update } from './method.ts';
import { startUpkeep, stores } from './runtime.ts';

const keySecretBytes = 32;

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

export class KeysActor {
  @update([ApiKeyRequest], ResultNewApiKey)
  createApiKey(argument: ApiKeyArgument) {
    return answer(() => {
      const call = currentCall();
      const request = { ...argument, expiresAtNs: argument.expiresAt[0] };
      checkKeyRequest(stores, call, request);
      const random = stores.secrets.random(keySecretBytes);
      const { key, secret } = createKey(stores, call, { ...request, random });
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
