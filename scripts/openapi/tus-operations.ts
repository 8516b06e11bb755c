// The operations of the tus protocol.

import { bytes, type ErrorCode, type Operations } from './description.ts';
import { keyErrors, storeErrors, uncached } from './file-operations.ts';

const bodyOfBytes = { types: ['application/offset+octet-stream'], schema: bytes } as const;
const always = ['Tus-Resumable', 'Tus-Version', ...uncached] as const;
const progress = [...always, 'Upload-Offset'] as const;
const sometimes = ['Upload-Expires', 'Content-Location'] as const;
const tusErrors = ['PreconditionFailed', 'InvalidArgument'] as const satisfies readonly ErrorCode[];
const endedErrors = [
  ...keyErrors,
  ...tusErrors,
  'NoSuchUpload',
  'UploadExpired',
  'UploadCancelled',
] as const satisfies readonly ErrorCode[];
const byteErrors = [
  'UnsupportedMediaType',
  'ChecksumMismatch',
  'EntityTooLarge',
  'NotEncrypted',
  'QuotaExceeded',
] as const satisfies readonly ErrorCode[];

export const tusOperations: Operations = {
  'POST /api/v1/tus/{bucket}': {
    id: 'createTusUpload',
    key: 'required',
    headers: [
      'Tus-Resumable',
      'Upload-Length',
      'Upload-Metadata',
      'Upload-Checksum',
      'If-Match',
      'If-None-Match',
    ],
    body: { ...bodyOfBytes, isOptional: true },
    answers: {
      201: {
        says: 'The upload is created.',
        headers: [...progress, 'Location'],
        otherHeaders: sometimes,
      },
    },
    errors: [...storeErrors, ...tusErrors, ...byteErrors],
  },
  'HEAD /api/v1/tus/{bucket}/{upload}': {
    id: 'getTusUpload',
    key: 'required',
    headers: ['Tus-Resumable'],
    answers: {
      200: {
        says: 'The progress of the upload.',
        headers: [...progress, 'Upload-Length'],
        otherHeaders: ['Upload-Metadata', 'Upload-Expires'],
      },
    },
    errors: endedErrors,
  },
  'PATCH /api/v1/tus/{bucket}/{upload}': {
    id: 'appendToTusUpload',
    key: 'required',
    headers: ['Tus-Resumable', 'Upload-Offset', 'Upload-Checksum'],
    body: bodyOfBytes,
    answers: {
      204: { says: 'The bytes are stored.', headers: progress, otherHeaders: sometimes },
    },
    errors: [...endedErrors, ...byteErrors, 'OffsetMismatch', 'UploadCompleted'],
  },
  'DELETE /api/v1/tus/{bucket}/{upload}': {
    id: 'endTusUpload',
    key: 'required',
    headers: ['Tus-Resumable'],
    answers: { 204: { says: 'The upload is cancelled.', headers: always } },
    errors: [...endedErrors, 'UploadCompleted'],
  },
};
