// Secrets of the end-to-end buckets of a service of several volumes.

import { type BucketSecrets, bucketSecrets } from './bucket-secrets.ts';
import { Places, type ServiceStorageOptions } from './service-places.ts';
import type { EndToEndOptions } from './types/end-to-end.ts';

/** Returns the secrets of all volumes; each call goes to the volume of its bucket. */
export function serviceSecrets(
  options: ServiceStorageOptions,
  settings: EndToEndOptions,
): BucketSecrets {
  const places = new Places(options);
  const opened = new Map<string, BucketSecrets>();
  function at(canisterId: string): BucketSecrets {
    const secrets = opened.get(canisterId) ?? bucketSecrets({ ...options, canisterId }, settings);
    opened.set(canisterId, secrets);
    return secrets;
  }
  const call = <T>(bucket: string, ask: (secrets: BucketSecrets) => Promise<T>) =>
    places.run(bucket, false, (_, volume) => ask(at(volume)));
  return {
    mode: (bucket) => call(bucket, (secrets) => secrets.mode(bucket)),
    readerMode: (bucket) => call(bucket, (secrets) => secrets.readerMode(bucket)),
    keepsVersions: (bucket) => call(bucket, (secrets) => secrets.keepsVersions(bucket)),
    readsOverHttp: false,
    forget: (bucket) => opened.forEach((secrets) => void secrets.forget(bucket)),
    identities: (bucket) => call(bucket, (secrets) => secrets.identities(bucket)),
    identity: (bucket, record) => call(bucket, (secrets) => secrets.identity(bucket, record)),
    plainSize: (record, version) =>
      call(record.bucketId, (secrets) => secrets.plainSize(record, version)),
    sealedAs: (record, source) =>
      call(record.bucketId, (secrets) => secrets.sealedAs(record, source)),
  };
}
