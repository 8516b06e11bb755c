// The identity of an end-to-end bucket's members: who may request it from the network, its
// published recipient, and its rotation. The canister never sees an identity, because the network
// encrypts it under a transport key of the caller.
//
// The network derives an identity from the canister, the key's name, the context below, 8 bytes of
// the bucket's serial and 4 bytes of the epoch, big-endian. Clients use the same bytes; other bytes
// give other identities. With a proxy, the network derives from the proxy's id instead, which puts
// one byte with the length of this canister's id, and the id, before the context.

import { bucketEpochCountMax, epochsPerHourMax, hourNs } from '../../limits.ts';
import { type Bucket, saveBucket } from '../buckets/buckets.ts';
import {
  type EndToEnd,
  type Epoch,
  findEndToEnd,
  newEpoch,
  saveEndToEnd,
} from '../buckets/end-to-end.ts';
import { checkIdentityBudget } from '../rights/identity-budget.ts';
import { memberOfBucket, ownedBucket } from '../rights/ownership.ts';
import { parseDerivedRecipient } from '../shared/age-format.ts';
import type { Call } from '../shared/caller.ts';
import { Refusal, secondsUntil } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { type BucketDetails, describeBucket } from './bucket-administration.ts';

export const identityContext = 'encrypted-file-storage/bucket-identity/v1';
/** A compressed point of G1 of BLS12-381. */
const transportKeyBytes = 48;
const serialBytes = 8;
const epochBytes = 4;

export interface IdentityRequest {
  readonly bucket: string;
  /** Absent: the newest epoch. */
  readonly epoch: bigint | undefined;
  readonly transportPublicKey: Uint8Array;
}

/** The input of the network's derivation. */
export interface IdentityPath {
  readonly bucket: Bucket;
  readonly epoch: number;
  readonly recipient: string | undefined;
  readonly keyName: string;
  readonly proxy: string;
  readonly input: Uint8Array;
}

/** Refuses all but members who sign the call, and requests beyond the budget; changes nothing. */
export function checkIdentityRequest(
  stores: Stores,
  call: Call,
  request: IdentityRequest,
): IdentityPath {
  const path = identityPath(stores, call, request);
  checkIdentityBudget(stores, call, path.bucket);
  return path;
}

/** Like checkIdentityRequest(), but without the check of the budget. */
export function identityPath(stores: Stores, call: Call, request: IdentityRequest): IdentityPath {
  const { bucket } = memberOfBucket(stores, call, request.bucket);
  const { endToEnd, epoch } = namedEpoch(stores, bucket, request.epoch);
  if (request.transportPublicKey.length !== transportKeyBytes) {
    throw new Refusal(
      'InvalidArgument',
      `The transport public key must be a compressed point of G1, ${transportKeyBytes} bytes; this one has ` +
        `${request.transportPublicKey.length}.`,
    );
  }
  const { recipient, keyName, proxy } = epoch;
  const input = inputOf(endToEnd, epoch);
  return { bucket, epoch: epoch.epoch, recipient, keyName, proxy, input };
}

function inputOf({ serial }: EndToEnd, { epoch }: Epoch): Uint8Array {
  const input = new Uint8Array(serialBytes + epochBytes);
  const view = new DataView(input.buffer);
  view.setBigUint64(0, serial);
  view.setUint32(serialBytes, epoch);
  return input;
}

function namedEpoch(
  stores: Stores,
  bucket: Bucket,
  number: bigint | undefined,
): { readonly endToEnd: EndToEnd; readonly epoch: Epoch } {
  const endToEnd = bucket.isEndToEnd ? findEndToEnd(stores, bucket.id) : undefined;
  const newest = endToEnd?.epochs.at(-1);
  if (endToEnd === undefined || newest === undefined) {
    throw new Refusal(
      'InvalidArgument',
      `Bucket ${bucket.id} has no identity by vetKeys: it is not end-to-end encrypted, or uses only recipients ` +
        'that its owners listed.',
    );
  }
  const epoch = number === undefined ? newest : endToEnd.epochs[Number(number) - 1];
  if (epoch === undefined) {
    throw new Refusal(
      'InvalidArgument',
      `Bucket ${bucket.id} has the epochs 1 to ${newest.epoch}, not ${number}.`,
    );
  }
  return { endToEnd, epoch };
}

export interface RecipientRequest {
  readonly bucket: string;
  readonly epoch: bigint;
  readonly recipient: string;
}

/**
 * Publishes the recipient of an epoch's identity, once; publishing the same recipient again changes
 * nothing. For owners who can derive it: a controller who is not a member cannot, and would have to
 * invent one.
 */
export function setBucketRecipient(
  stores: Stores,
  call: Call,
  request: RecipientRequest,
): BucketDetails {
  const { bucket } = requireNamedOwner(stores, call, request.bucket);
  const { endToEnd, epoch } = namedEpoch(stores, bucket, request.epoch);
  const recipient = parseDerivedRecipient(request.recipient);
  if (epoch.recipient !== undefined && epoch.recipient !== recipient) {
    throw new Refusal(
      'InvalidArgument',
      `Epoch ${epoch.epoch} of bucket ${bucket.id} already has another recipient, which cannot change: a caller that ` +
        'derives another identity uses another bucket or epoch. rotateBucketIdentity begins the ' +
        'next epoch.',
    );
  }
  if (epoch.recipient === undefined) {
    const published = { ...epoch, recipient };
    const epochs = endToEnd.epochs.map((known) => (known === epoch ? published : known));
    change(stores, call, bucket, { ...endToEnd, epochs });
  }
  return detailsOf(stores, call, bucket);
}

/** Refuses callers who may not publish there; does not check the recipient. */
export function requireNamedOwner(stores: Stores, call: Call, name: string) {
  const member = memberOfBucket(stores, call, name);
  if (member.role !== 'owner') {
    throw new Refusal(
      'AccessDenied',
      `Only an owner of bucket ${member.bucket.id} may do this: call with an owner's identity.`,
    );
  }
  return member;
}

/** Begins the next epoch, whose recipient a client publishes later. For owners. */
export function rotateBucketIdentity(stores: Stores, call: Call, name: string): BucketDetails {
  const bucket = ownedBucket(stores, call, name);
  const { endToEnd, epoch: newest } = namedEpoch(stores, bucket, undefined);
  checkRotation(bucket, endToEnd, call.nowNs);
  const next = newEpoch(stores, newest.epoch + 1, call.nowNs);
  change(stores, call, bucket, { ...endToEnd, epochs: [...endToEnd.epochs, next] });
  return detailsOf(stores, call, bucket);
}

function checkRotation({ id }: Bucket, { epochs }: EndToEnd, nowNs: bigint): void {
  if (epochs.length >= bucketEpochCountMax) {
    throw new Refusal(
      'QuotaExceeded',
      `Bucket ${id} has ${bucketEpochCountMax} epochs: move its files to a new bucket.`,
      { limit: bucketEpochCountMax },
    );
  }
  const tenth = epochs.at(-epochsPerHourMax);
  const seconds = tenth === undefined ? 0 : secondsUntil(tenth.openedAtNs + hourNs, nowNs);
  if (seconds > 0) {
    throw new Refusal(
      'SlowDown',
      `A bucket can begin at most ${epochsPerHourMax} epochs per hour: try again in ${seconds} seconds.`,
      { limit: epochsPerHourMax, seconds },
    );
  }
}

function change(stores: Stores, call: Call, bucket: Bucket, endToEnd: EndToEnd): void {
  saveEndToEnd(stores, bucket.id, endToEnd);
  saveBucket(stores, { ...bucket, updatedAtNs: call.nowNs }, bucket);
}

function detailsOf(stores: Stores, call: Call, { id }: Bucket): BucketDetails {
  return describeBucket(stores, call, { bucket: id, apiKey: undefined });
}
