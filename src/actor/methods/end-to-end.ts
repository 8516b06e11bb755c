// Actor methods of end-to-end encrypted buckets. The network encrypts an identity to the caller's
// transport key, so the canister only passes on data that it cannot decrypt.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { time } from 'azle';
import { bucketMode } from '../../domain/administration/bucket-administration.ts';
import {
  checkIdentityRequest,
  type IdentityPath,
  type IdentityRequest,
  identityContext,
  identityPath,
  rotateBucketIdentity,
  setBucketRecipient,
} from '../../domain/administration/bucket-identity.ts';
import { takeIdentity } from '../../domain/rights/identity-budget.ts';
import type { Call } from '../../domain/shared/caller.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { bytesEqual } from '../../lib/bytes.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { ResultBucketIdentity, ResultBucketMode } from '../candid/end-to-end.ts';
import { ResultBucket } from '../candid/types.ts';
import { update } from '../dispatch/method.ts';
import { type Optional, optional } from '../messages/optional.ts';
import { answer, currentCall, type Result } from '../runtime/call.ts';
import { isCleanup } from '../runtime/management.ts';
import { stores } from '../runtime/runtime.ts';
import { fetchDerivedPublicKey, fetchEncryptedKey, type VetKeyPath } from '../runtime/vet-keys.ts';
import { bucketView, endToEndView } from './buckets.ts';

interface Derived {
  readonly encryptedKey: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** The derived public keys by key name and proxy, which never change. */
const publicKeys = new Map<string, Uint8Array>();

async function publicKeyOf(path: VetKeyPath): Promise<Uint8Array> {
  const name = `${path.keyName} ${path.proxy}`;
  const known = publicKeys.get(name);
  if (known !== undefined) return known;
  const publicKey = await fetchDerivedPublicKey(path);
  publicKeys.set(name, publicKey);
  return publicKey;
}

async function derive(path: IdentityPath, request: IdentityRequest): Promise<Derived> {
  const { keyName, proxy, input } = path;
  const { transportPublicKey } = request;
  const named = { keyName, proxy, context: encodeUtf8(identityContext) };
  try {
    const publicKey = await publicKeyOf(named);
    const encryptedKey = await fetchEncryptedKey({ ...named, input, transportPublicKey });
    return { publicKey, encryptedKey };
  } catch (error) {
    if (isCleanup(error)) throw error;
    const { rejectMessage = 'no reason was given' } = error as { rejectMessage?: string };
    throw new Refusal(
      'ServiceUnavailable',
      `The network has not derived the identity: ${rejectMessage}. Check the transport key, and try ` +
        'again in a few minutes.',
    );
  }
}

/** During the call, the caller may have lost the right, or the bucket may have been replaced. */
function requireSame(before: IdentityPath, call: Call, request: IdentityRequest): IdentityPath {
  const now = identityPath(stores, call, request);
  if (now.keyName === before.keyName && bytesEqual(now.input, before.input)) return now;
  throw new Refusal(
    'InvalidArgument',
    'The bucket was replaced by another during the call: call again.',
  );
}

/** End-to-end encrypted buckets: their modes, and the identities of their members. */
export class EndToEndActor {
  /**
   * (bucketId, apiKey) Returns the bucket's end-to-end mode and recipients. An update, so that the
   * network signs them. For members, and for keys that may write or may read the whole bucket.
   * Errors: AccessDenied, NoSuchBucket, SlowDown.
   */
  @update([IDL.Text, IDL.Opt(IDL.Text)], ResultBucketMode)
  getBucketMode(bucket: string, [apiKey]: Optional<string>) {
    return answer(() => {
      const mode = bucketMode(stores, currentCall(), { bucket, apiKey });
      return { endToEnd: optional(mode && endToEndView(mode)) };
    });
  }

  /**
   * (bucketId, epoch, transportPublicKey) Returns the identity of that epoch, or of the newest,
   * encrypted to a transport key of 48 bytes (G1). For members, not for API keys; at most 10 per
   * caller and hour. Errors: AccessDenied, SlowDown, ServiceUnavailable.
   */
  @update([IDL.Text, IDL.Opt(IDL.Nat), IDL.Vec(IDL.Nat8)], ResultBucketIdentity)
  async getBucketIdentity(
    bucket: string,
    [epoch]: Optional<bigint>,
    transportPublicKey: Uint8Array,
  ): Promise<Result<object>> {
    const call = currentCall();
    // Fixes the newest epoch now, because another one may begin during the call.
    const checked = answer(() => {
      const request = { bucket, epoch, transportPublicKey };
      const path = checkIdentityRequest(stores, call, request);
      takeIdentity(stores, call, path.bucket);
      return { path, request: { ...request, epoch: BigInt(path.epoch) } };
    });
    if ('err' in checked) return checked;
    const { path, request } = checked.ok;
    try {
      const derived = await derive(path, request);
      const same = requireSame(path, { ...call, nowNs: time() }, request);
      const { epoch, keyName, recipient, proxy } = same;
      const way = optional(proxy === '' ? undefined : Principal.fromText(proxy));
      return { ok: { ...derived, epoch, keyName, proxy: way, recipient: optional(recipient) } };
    } catch (error) {
      return answer(() => {
        throw error;
      });
    }
  }

  /**
   * (bucketId, epoch, recipient) Publishes the recipient of an epoch, for owners, whose clients
   * derive it from the identity. Errors: InvalidArgument if another recipient is published.
   */
  @update([IDL.Text, IDL.Nat, IDL.Text], ResultBucket)
  setBucketRecipient(bucket: string, epoch: bigint, recipient: string) {
    const request = { bucket, epoch, recipient };
    return answer(() => bucketView(setBucketRecipient(stores, currentCall(), request)));
  }

  /**
   * (bucketId) Begins the next epoch for new files, for owners. At most 10 per hour, 1,000 in
   * total. Members can get the identities of all epochs.
   */
  @update([IDL.Text], ResultBucket)
  rotateBucketIdentity(bucket: string) {
    return answer(() => bucketView(rotateBucketIdentity(stores, currentCall(), bucket)));
  }
}
