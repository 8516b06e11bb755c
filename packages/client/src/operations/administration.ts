// Operations of owners and controllers. Only the actor has them, and none takes a path of a file.

import type { BucketChange, BucketOptions, BucketRecord, WellKnownText } from '../types/buckets.ts';
import type { EndToEndRecord } from '../types/end-to-end.ts';
import type { JournalListOptions, JournalPage, JournalTip } from '../types/journal.ts';
import type { KeyRecord, KeyRequest, NewKey } from '../types/keys.ts';
import type { BucketRule, StoredRule } from '../types/rules.ts';
import type { AccessChange, RootKeySource, ServiceCode } from '../types/service.ts';
import type {
  Subscription,
  SubscriptionChange,
  SubscriptionRequest,
} from '../types/subscriptions.ts';
import type { TransferRows } from './operation.ts';

/** The service's response with an encrypted identity: see age/bucket-identity.ts. */
export interface SealedIdentity {
  readonly epoch: number;
  /** 192 bytes, encrypted to the transport key. */
  readonly encryptedKey: Uint8Array;
  /** 96 bytes: the public key of the canister and the context, not yet verified. */
  readonly publicKey: Uint8Array;
  readonly recipient?: string | undefined;
  readonly keyName: string;
  /** The principal's bytes of the canister that asked the network for the key, if another did. */
  readonly proxy?: Uint8Array | undefined;
}

export interface SignedMode {
  /** Undefined if the bucket is not end-to-end; absent if the service is of version 0.1.0. */
  readonly endToEnd?: EndToEndRecord | undefined;
}

export interface EpochName {
  readonly bucket: string;
  readonly epoch: number;
}

export interface RulesRequest {
  readonly bucket: string;
  readonly rules: readonly BucketRule[];
}

export interface WellKnownRequest {
  readonly name: string;
  /** Undefined to remove the text. */
  readonly body: string | undefined;
  readonly contentType?: string | undefined;
}

export interface JournalRequest extends Omit<JournalListOptions, 'signal'> {
  readonly bucket: string;
}

export interface SubscriptionName {
  readonly bucket: string;
  readonly id: number;
}

/** A block of the journal's chain. */
export interface JournalBlock {
  /** As the service numbers it, from 0. */
  readonly index: number;
  /** The kind of the entry, after `efs.`. */
  readonly kind: string;
  readonly atNs: bigint;
  /** 32 bytes. */
  readonly commitment: Uint8Array;
  /** Hash of the block before; `undefined` for the first. */
  readonly parentHash: Uint8Array | undefined;
  /** Computed from the block. */
  readonly hash: Uint8Array;
}

export interface RedactionRequest {
  readonly bucket: string;
  /** Their numbers. */
  readonly entries: readonly number[];
}

export interface BlockRange {
  readonly start: number;
  /** At most 5,000. */
  readonly length: number;
}

export interface AdministrationOperations {
  createBucket(request: BucketOptions & { readonly id: string }): BucketRecord;
  getBucket(id: string): BucketRecord;
  /** The reply is signed by the network. */
  getSignedBucket(id: string): BucketRecord;
  listBuckets(page: number): { readonly items: readonly BucketRecord[]; readonly hasMore: boolean };
  updateBucket(change: BucketChange & { readonly id: string }): BucketRecord;
  deleteBucket(request: { readonly id: string; readonly isForced: boolean }): undefined;
  /** The reply is signed by the network, and has the newest epoch only. */
  getBucketMode(bucket: string): SignedMode;
  /** `transportPublicKey` has 48 bytes. */
  getBucketIdentity(request: EpochName & { transportPublicKey: Uint8Array }): SealedIdentity;
  setBucketRecipient(request: EpochName & { readonly recipient: string }): BucketRecord;
  rotateBucketIdentity(bucket: string): BucketRecord;
  getRules(bucket: string): readonly StoredRule[];
  /** In a reply that the network signs. */
  getSignedRules(bucket: string): readonly StoredRule[];
  setRules(request: RulesRequest): readonly StoredRule[];
  createKey(request: KeyRequest): NewKey;
  /** In a reply that the network signs. */
  listSignedKeys(bucket: string): readonly KeyRecord[];
  listKeys(bucket: string): readonly KeyRecord[];
  revokeKey(id: string): undefined;
  /** Returns the principals that may create buckets after the change. */
  updateAccess(change: AccessChange): readonly string[];
  rotateBucketKey(bucket: string): undefined;
  rotateRootKey(source: RootKeySource | undefined): undefined;
  /** From a certificate of the network. */
  getCode(): ServiceCode;
  setWellKnown(text: WellKnownRequest): undefined;
  listWellKnown(): readonly WellKnownText[];
  readJournal(request: JournalRequest): JournalPage;
  /** Returns the number of days. */
  keepJournal(request: { readonly bucket: string; readonly days: number }): number;
  /** Returns how many entries were not redacted before. */
  redactEntries(request: RedactionRequest): number;
  /** From a certificate of the network; `undefined` if a node reports an empty journal. */
  getJournalTip(): JournalTip | undefined;
  /** One node's answer, in its order. */
  getJournalBlocks(range: BlockRange): readonly JournalBlock[];
  addSubscription(request: SubscriptionRequest & { readonly bucket: string }): Subscription;
  listSubscriptions(bucket: string): readonly Subscription[];
  updateSubscription(change: SubscriptionChange & SubscriptionName): Subscription;
  removeSubscription(name: SubscriptionName): undefined;
}

export const administrationRows = {
  createBucket: { retry: 'compare' },
  getBucket: { retry: 'repeat' },
  getSignedBucket: { retry: 'repeat' },
  listBuckets: { retry: 'repeat' },
  updateBucket: { retry: 'repeat' },
  deleteBucket: { retry: { doneIf: 'NoSuchBucket' } },
  getBucketMode: { retry: 'repeat' },
  getBucketIdentity: { retry: 'never' },
  setBucketRecipient: { retry: 'never' },
  rotateBucketIdentity: { retry: 'never' },
  getRules: { retry: 'repeat' },
  getSignedRules: { retry: 'repeat' },
  setRules: { retry: 'repeat' },
  // A second key could remain whose secret nobody has.
  createKey: { retry: 'never' },
  listSignedKeys: { retry: 'repeat' },
  listKeys: { retry: 'repeat' },
  revokeKey: { retry: 'repeat' },
  updateAccess: { retry: 'repeat' },
  // A retry would be another rotation.
  rotateBucketKey: { retry: 'never' },
  rotateRootKey: { retry: 'never' },
  getCode: { retry: 'repeat' },
  setWellKnown: { retry: 'repeat' },
  listWellKnown: { retry: 'repeat' },
  readJournal: { retry: 'repeat' },
  keepJournal: { retry: 'repeat' },
  redactEntries: { retry: 'repeat' },
  getJournalTip: { retry: 'repeat' },
  getJournalBlocks: { retry: 'repeat' },
  // A second subscription could remain.
  addSubscription: { retry: 'never' },
  listSubscriptions: { retry: 'repeat' },
  updateSubscription: { retry: 'repeat' },
  removeSubscription: { retry: 'never' },
} satisfies TransferRows<AdministrationOperations>;
