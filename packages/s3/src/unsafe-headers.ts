// Header fields of S3 that would be unsafe to ignore. S3 adds fields every year, and clients send
// fields without an effect, so every other `x-amz-*` field is ignored. A field belongs here if a
// client that believes it was obeyed could lose data, overwrite it, or show it to others.

import type { S3Request } from './request.ts';
import { type S3Code, S3Error } from './s3-error.ts';

interface UnsafeField {
  /** The name after `x-amz-`; a final `*` matches every name that begins so. */
  readonly name: string;
  /** Values that ask for the usual behavior; compared without regard to case. */
  readonly accepted?: readonly string[];
  /** The false belief of a client if the field were ignored. */
  readonly reason: string;
  readonly code?: S3Code;
}

const noLocks = 'this operation locks no object';
const noGrants = 'rights are granted by the bucket and its keys, not by objects';
const noOtherKeys = 'objects are encrypted with AES256 only, without keys of KMS or of the client';
const noAccounts = 'this service has no account ids, so the owner cannot be checked';

const unsafeFields: readonly UnsafeField[] = [
  {
    name: 'acl',
    accepted: ['private', 'bucket-owner-full-control', 'bucket-owner-read'],
    reason: noGrants,
  },
  { name: 'grant-*', reason: noGrants },
  { name: 'server-side-encryption', accepted: ['AES256'], reason: noOtherKeys },
  {
    name: 'server-side-encryption-bucket-key-enabled',
    accepted: ['false'],
    reason: noOtherKeys,
  },
  { name: 'server-side-encryption-*', reason: noOtherKeys },
  { name: 'copy-source-server-side-encryption-*', reason: noOtherKeys },
  { name: 'bucket-object-lock-enabled', accepted: ['false'], reason: noLocks },
  { name: 'object-lock-legal-hold', accepted: ['OFF'], reason: noLocks },
  { name: 'object-lock-*', reason: noLocks },
  { name: 'expected-bucket-owner', reason: noAccounts, code: 'AccessDenied' },
  { name: 'source-expected-bucket-owner', reason: noAccounts, code: 'AccessDenied' },
  { name: 'website-redirect-location', reason: 'an object cannot redirect to another address' },
  { name: 'write-offset-bytes', reason: 'bytes cannot be appended, only replaced' },
  { name: 'rename-source', reason: 'objects are copied and deleted, not renamed' },
  {
    name: 'storage-class',
    accepted: [
      ...['STANDARD', 'REDUCED_REDUNDANCY', 'STANDARD_IA', 'ONEZONE_IA', 'INTELLIGENT_TIERING'],
      ...['GLACIER', 'GLACIER_IR', 'DEEP_ARCHIVE'],
    ],
    reason: 'every object is stored as STANDARD, whichever class of AWS is named',
    code: 'InvalidStorageClass',
  },
];

/**
 * Throws NotImplemented, AccessDenied or InvalidStorageClass for a listed field that the operation
 * does not obey.
 */
export function refuseUnsafeHeaders(request: S3Request, obeyed: readonly string[] = []): void {
  for (const [name, value] of request.headersBehind('x-amz-')) {
    if (obeyed.includes(name)) continue;
    const field = unsafeFields.find((one) => isNamed(one, name));
    if (field === undefined || isAccepted(field, value)) continue;
    const { accepted = [], reason, code = 'NotImplemented' } = field;
    const header = `x-amz-${name}`.slice(0, 80);
    // A field without accepted values may contain a key of the client, which no error may repeat.
    const refused = accepted.length > 0 ? `${header}: ${value.slice(0, 80)}` : header;
    const advice = accepted.length > 0 ? `Send ${accepted.join(', ')}, or omit it.` : 'Omit it.';
    throw new S3Error(code, `${refused} is not supported: ${reason}. ${advice}`);
  }
}

function isNamed({ name }: UnsafeField, header: string): boolean {
  return name.endsWith('*') ? header.startsWith(name.slice(0, -1)) : header === name;
}

function isAccepted({ accepted = [] }: UnsafeField, value: string): boolean {
  return accepted.some((one) => one.toLowerCase() === value.trim().toLowerCase());
}
