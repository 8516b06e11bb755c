// Bounds of arguments and of ingress, with a row for each method. A method without a row is
// refused; tests/actor/method-table.test.ts checks that no row is missing.
//
// `bounds`: enough for an honest caller and for some unknown fields. Only they limit the cost of
// decoding for a stranger. A refused call within them takes less than 20 million instructions
// (tests/service/refusal-costs.thorough.test.ts).
//
// `admit`, for updates: runs the method's own checks, which refuse a caller without the right to
// the call. Inspection sees only ingress, so the method checks again.

import {
  checkKeyRequest,
  checkRevocation,
} from '../../domain/administration/api-key-administration.ts';
import {
  bucketMode,
  checkSignedRecord,
} from '../../domain/administration/bucket-administration.ts';
import {
  checkIdentityRequest,
  requireNamedOwner,
} from '../../domain/administration/bucket-identity.ts';
import {
  checkUploadLinkDeletion,
  checkUploadLinkRequest,
} from '../../domain/administration/upload-links.ts';
import { checkCopy } from '../../domain/files/copies.ts';
import { checkFileChange } from '../../domain/files/file-changes.ts';
import { authorizeDeletion } from '../../domain/files/file-deletion.ts';
import { checkSwitchRights } from '../../domain/files/file-switch.ts';
import { checkDeletion } from '../../domain/files/files.ts';
import { checkLinkDeletion, checkLinkRequest } from '../../domain/files/links.ts';
import { checkPrefixMoveRights } from '../../domain/files/prefix-moves.ts';
import { checkHoldChange, checkRetentionChange } from '../../domain/files/retention-changes.ts';
import { checkThumbnail } from '../../domain/files/thumbnails.ts';
import { authorizeErasure } from '../../domain/files/version-erasure.ts';
import { checkRestoration, getVersion } from '../../domain/files/versions.ts';
import { requireCreator } from '../../domain/rights/creators.ts';
import { ownedBucket } from '../../domain/rights/ownership.ts';
import { authorize } from '../../domain/rights/rights.ts';
import { isAnonymous, requireController } from '../../domain/shared/caller.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { checkUploadChunk } from '../../domain/uploads/one-round-upload.ts';
import type { FileArgument } from '../../domain/uploads/single-upload.ts';
import { checkChunk } from '../../domain/uploads/upload-chunks.ts';
import { checkCancellation, checkCompletion } from '../../domain/uploads/upload-end.ts';
import { checkUploadRequest } from '../../domain/uploads/uploads.ts';
import { type ApiKeyArgument, keyRequestOf } from '../messages/api-key-arguments.ts';
import type { BucketArgument, FileSwitchArgument } from '../messages/batch-messages.ts';
import type { ChunkArgument } from '../messages/bulk-messages.ts';
import {
  type ChangeArgument,
  type CopyArgument,
  changeOf,
  copyOrderOf,
  type PrefixArgument,
  prefixOrderOf,
  switchClaimOf,
} from '../messages/copy-arguments.ts';
import { type LinkArgument, linkRequestOf } from '../messages/link-arguments.ts';
import { numberOf, type Optional } from '../messages/optional.ts';
import {
  type HoldArgument,
  holdChangeOf,
  type RetentionArgument,
  retentionChangeOf,
} from '../messages/retention-arguments.ts';
import { type ThumbnailArgument, thumbnailOf } from '../messages/thumbnail-arguments.ts';
import {
  type CompletionArgument,
  chunkOf,
  completionOf,
  type UploadArgument,
  uploadRequestOf,
} from '../messages/upload-arguments.ts';
import { type UploadLinkArgument, uploadLinkRequestOf } from '../messages/upload-link-arguments.ts';
import {
  type ErasureArgument,
  erasureOf,
  type RestorationArgument,
  restorationOf,
} from '../messages/version-arguments.ts';
import {
  batch,
  type Caller,
  chunk,
  deletion,
  few,
  file,
  type MethodRow,
  many,
  picture,
  request,
  rules,
  some,
  upload,
} from './method-row.ts';

function requireControllerCall({ call }: Caller): void {
  requireController(call);
}

function requireIdentity({ call }: Caller): void {
  if (isAnonymous(call.caller)) {
    throw new Refusal(
      'AccessDenied',
      'The anonymous caller has no buckets: call with an identity.',
    );
  }
}

function requireOwner(caller: Caller, bucketId: string): void {
  ownedBucket(caller.stores, caller.call, bucketId);
}

const startedUpload: MethodRow = {
  bounds: file,
  isUpload: true,
  admit: ({ stores, call }, argument: UploadArgument) =>
    void checkUploadRequest(stores, call, uploadRequestOf(argument)),
};

export const methodTable: Readonly<Record<string, MethodRow>> = {
  // Queries, which inspection refuses as ingress
  getApiDoc: { bounds: few, isAtFront: true },
  getFile: { bounds: few },
  getStatus: { bounds: few, isAtFront: true },
  getUpload: { bounds: few },
  getUsage: { bounds: few },
  getVersion: { bounds: few },
  getTopUps: { bounds: few, isAtFront: true },
  getVolumeProof: { bounds: few, isAtFront: true },
  icrc3_get_blocks: { bounds: few, isAtFront: true },
  icrc3_get_tip_certificate: { bounds: few, isAtFront: true },
  icrc3_supported_block_types: { bounds: few, isAtFront: true },
  http_request: { bounds: request, isAtFront: true },
  http_request_streaming_callback: { bounds: few },
  listBuckets: { bounds: few },
  listFiles: { bounds: some },
  listFolder: { bounds: some },
  listLinks: { bounds: few },
  listUploadLinks: { bounds: few },
  listSubscriptions: { bounds: few },
  listUploads: { bounds: few },
  listVersions: { bounds: few },
  listVolumes: { bounds: few, isAtFront: true },
  listWellKnown: { bounds: few, isAtFront: true },
  readFile: { bounds: few },
  readJournal: { bounds: few },
  readFiles: { bounds: deletion },
  readThumbnails: { bounds: deletion },
  readVersion: { bounds: few },

  // Uploads
  beginFileUpload: {
    bounds: few,
    isUpload: true,
    admit: (
      { stores, call },
      bucket: string,
      path: string,
      contentType: string,
      size: bigint,
      [apiKey]: Optional<string>,
    ) =>
      void checkUploadRequest(stores, call, { bucket, path, contentType, size, apiKey, tags: [] }),
  },
  beginFileUploadWith: startedUpload,
  startUpload: startedUpload,
  uploadFileChunkIndexed: {
    bounds: chunk,
    isUpload: true,
    admit: ({ stores, call }, argument: ChunkArgument) => void checkChunk(stores, call, argument),
    countedRefusals: 'large',
  },
  uploadChunk: {
    bounds: upload,
    isUpload: true,
    admit: ({ stores, call }, ...values: Parameters<typeof chunkOf>) =>
      checkUploadChunk(stores, call, chunkOf(...values)),
    countedRefusals: 'large',
  },
  completeFileUpload: {
    bounds: few,
    admit: ({ stores, call }, uploadId: string, [apiKey]: Optional<string>) =>
      void checkCompletion(stores, call, { uploadId, apiKey }),
  },
  completeFileUploadWith: {
    bounds: file,
    admit: ({ stores, call }, argument: CompletionArgument) =>
      void checkCompletion(stores, call, completionOf(argument)),
  },
  cancelUpload: {
    bounds: few,
    admit: ({ stores, call }, uploadId: string) =>
      void checkCancellation(stores, call, { uploadId }),
  },
  uploadFile: {
    bounds: upload,
    isUpload: true,
    admit: ({ stores, call }, { bucketId: bucket, path, apiKey }: FileArgument) =>
      void authorize(stores, call, { bucket, path, permission: 'upload', apiKey }),
  },

  uploadFiles: {
    bounds: batch,
    isUpload: true,
    admit: ({ stores, call }, { bucketId: bucket, apiKey }: BucketArgument) =>
      void authorize(stores, call, { bucket, permission: 'upload', apiKey, place: 'later' }),
  },

  // Files
  getCertifiedFile: {
    bounds: few,
    admit: (
      { stores, call },
      bucket: string,
      path: string,
      version: Optional<bigint>,
      [apiKey]: Optional<string>,
    ) => void getVersion(stores, call, { bucket, path, version: numberOf(version), apiKey }),
  },
  deleteFiles: {
    bounds: deletion,
    admit: ({ stores, call }, { bucketId, apiKey }: BucketArgument) =>
      void authorizeDeletion(stores, call, { bucket: bucketId, apiKey }),
  },
  deleteFile: {
    bounds: few,
    admit: ({ stores, call }, bucket: string, path: string, [apiKey]: Optional<string>) =>
      void checkDeletion(stores, call, { bucket, path, apiKey, conditions: {} }),
  },
  copyFile: {
    bounds: file,
    admit: ({ stores, call }, argument: CopyArgument) =>
      void checkCopy(stores, call, 'copy', copyOrderOf(argument)),
  },
  moveFile: {
    bounds: file,
    admit: ({ stores, call }, argument: CopyArgument) =>
      void checkCopy(stores, call, 'move', copyOrderOf(argument)),
  },
  moveFiles: {
    bounds: some,
    admit: ({ stores, call }, argument: PrefixArgument) =>
      checkPrefixMoveRights(stores, call, prefixOrderOf(argument)),
  },
  switchFiles: {
    bounds: deletion,
    admit: ({ stores, call }, argument: FileSwitchArgument) =>
      void checkSwitchRights(stores, call, switchClaimOf(argument)),
  },
  createLink: {
    bounds: some,
    admit: ({ stores, call }, argument: LinkArgument) =>
      void checkLinkRequest(stores, call, linkRequestOf(argument)),
  },
  deleteLink: {
    bounds: few,
    admit: ({ stores, call }, bucket: string, id: string, [apiKey]: Optional<string>) =>
      void checkLinkDeletion(stores, call, { bucket, id, apiKey }),
  },
  createUploadLink: {
    bounds: some,
    admit: ({ stores, call }, argument: UploadLinkArgument) =>
      void checkUploadLinkRequest(stores, call, uploadLinkRequestOf(argument)),
  },
  deleteUploadLink: {
    bounds: few,
    admit: ({ stores, call }, bucket: string, id: string, [apiKey]: Optional<string>) =>
      void checkUploadLinkDeletion(stores, call, { bucket, id, apiKey }),
  },
  restoreVersion: {
    bounds: some,
    admit: ({ stores, call }, argument: RestorationArgument) =>
      void checkRestoration(stores, call, restorationOf(argument)),
  },
  eraseVersions: {
    bounds: few,
    admit: ({ stores, call }, argument: ErasureArgument) =>
      void authorizeErasure(stores, call, erasureOf(argument)),
  },
  setRetention: {
    bounds: some,
    admit: ({ stores, call }, argument: RetentionArgument) =>
      void checkRetentionChange(stores, call, retentionChangeOf(argument)),
  },
  setHold: {
    bounds: some,
    admit: ({ stores, call }, argument: HoldArgument) =>
      void checkHoldChange(stores, call, holdChangeOf(argument)),
  },
  updateFile: {
    bounds: file,
    admit: ({ stores, call }, argument: ChangeArgument) =>
      void checkFileChange(stores, call, changeOf(argument)),
  },
  putThumbnail: {
    bounds: picture,
    isUpload: true,
    admit: ({ stores, call }, argument: ThumbnailArgument) =>
      void checkThumbnail(stores, call, thumbnailOf(argument)),
    countedRefusals: 'large',
  },
  /** For its check, inspect.ts repeats the query. */
  http_request_update: { bounds: request },

  // Buckets and keys
  getBucket: {
    bounds: few,
    isSignedQuery: true,
    admit: ({ stores, call }, bucket: string, [apiKey]: Optional<string>) =>
      checkSignedRecord(stores, call, { bucket, apiKey }),
  },
  createBucket: {
    bounds: many,
    isAtFront: true,
    admit: ({ stores, call }) => requireCreator(stores, call),
  },
  getBucketMode: {
    bounds: few,
    admit: ({ stores, call }, bucket: string, [apiKey]: Optional<string>) =>
      void bucketMode(stores, call, { bucket, apiKey }),
  },
  getBucketIdentity: {
    bounds: few,
    admit: (
      { stores, call },
      bucket: string,
      [epoch]: Optional<bigint>,
      transportPublicKey: Uint8Array,
    ) => void checkIdentityRequest(stores, call, { bucket, epoch, transportPublicKey }),
    countedRefusals: 'all',
  },
  setBucketRecipient: {
    bounds: few,
    admit: ({ stores, call }, bucket: string) => void requireNamedOwner(stores, call, bucket),
  },
  rotateBucketIdentity: { bounds: few, admit: requireOwner },
  updateBucket: {
    bounds: many,
    admit: (caller, { bucketId }: { bucketId: string }) => requireOwner(caller, bucketId),
  },
  listApiKeys: { bounds: few, isSignedQuery: true, admit: requireOwner },
  getRules: { bounds: few, isSignedQuery: true, admit: requireOwner },
  setRules: { bounds: rules, admit: requireOwner },
  keepJournal: { bounds: few, admit: requireOwner },
  redactEntries: { bounds: many, admit: requireOwner },
  addSubscription: {
    bounds: some,
    admit: (caller, { bucketId }: { bucketId: string }) => requireOwner(caller, bucketId),
  },
  updateSubscription: {
    bounds: some,
    admit: (caller, { bucketId }: { bucketId: string }) => requireOwner(caller, bucketId),
  },
  removeSubscription: { bounds: few, admit: requireOwner },
  deleteBucket: { bounds: few, admit: requireOwner },
  rotateBucketKey: { bounds: few, admit: requireOwner },
  rotateRootKey: { bounds: few, admit: requireControllerCall },
  updateAccess: { bounds: many, admit: requireControllerCall, isAtFront: true },
  setWellKnown: { bounds: file, admit: requireControllerCall, isAtFront: true },

  // The service
  setFront: { bounds: few, admit: requireControllerCall, isAtFront: true },
  addVolume: { bounds: few, admit: requireControllerCall, isAtFront: true },
  removeVolume: { bounds: few, admit: requireControllerCall, isAtFront: true },
  updateVolume: { bounds: few, admit: requireControllerCall, isAtFront: true },
  updateTopUps: { bounds: few, admit: requireControllerCall, isAtFront: true },
  topUpVolume: { bounds: few, admit: requireControllerCall, isAtFront: true },
  /** Only fronts call these, which are canisters: all ingress is refused. */
  createBucketFor: { bounds: many },
  getCreationTimes: { bounds: many },
  reportToFront: { bounds: few },
  /** Only volumes call it, which are canisters: all ingress is refused. */
  reportPublicBuckets: { bounds: file, isAtFront: true },
  createApiKey: {
    bounds: many,
    admit: (caller, argument: ApiKeyArgument) => {
      requireIdentity(caller);
      checkKeyRequest(caller.stores, caller.call, keyRequestOf(argument));
    },
    // A request without a bucket is refused before it shows that its caller has a right.
    countedRefusals: 'all',
  },
  revokeApiKey: {
    bounds: few,
    admit: ({ stores, call }, id: string) => void checkRevocation(stores, call, id),
  },
};
