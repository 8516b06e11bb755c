// Identities and settings of end-to-end buckets, by calls of the actor.

import type { Administration } from '../connection/transport.ts';
import type { EndToEndSettings } from '../types/end-to-end.ts';
import { bucketRecordOf, optional } from './candid-records.ts';
import type { ServiceActor } from './candid-types.ts';
import { call } from './connection.ts';

type Identities = Pick<
  Administration,
  'getBucketIdentity' | 'setBucketRecipient' | 'rotateBucketIdentity'
>;

export function actorIdentities(actor: ServiceActor): Identities {
  return {
    async getBucketIdentity(bucket, epoch, transportPublicKey) {
      const identity = await call(undefined, () =>
        actor.getBucketIdentity(bucket, [BigInt(epoch)], transportPublicKey),
      );
      const { epoch: own, recipient, encryptedKey, publicKey, keyName } = identity;
      return {
        epoch: Number(own),
        recipient: recipient[0],
        encryptedKey: Uint8Array.from(encryptedKey),
        publicKey: Uint8Array.from(publicKey),
        keyName,
      };
    },
    setBucketRecipient: async (bucket, epoch, recipient) =>
      bucketRecordOf(
        await call(undefined, () => actor.setBucketRecipient(bucket, BigInt(epoch), recipient)),
      ),
    rotateBucketIdentity: async (bucket) =>
      bucketRecordOf(await call(undefined, () => actor.rotateBucketIdentity(bucket))),
  };
}

export function endToEndOptionsOf(settings: EndToEndSettings | undefined) {
  return optional(
    settings && {
      usesVetKeys: optional(settings.usesVetKeys),
      sealsNames: optional(settings.sealsNames),
      recipients: optional(settings.recipients),
    },
  );
}
