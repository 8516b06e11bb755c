// The length and digests that a request declares for its body, checked before the first byte.

import { S3Error } from '../s3-error.ts';
import { headerOf, parseQuery, type SignedRequest } from '../signature/signed-request.ts';
import type { Payload } from '../signature/verify.ts';
import {
  type ChecksumAlgorithm,
  checksumHeader,
  checksumNamed,
  checksumNames,
  isBase64Of,
  isChecksum,
} from './checksum.ts';

export interface Expected {
  /** Number of bytes without framing. */
  readonly length: number;
  /** In base64. */
  readonly md5: string | undefined;
  /** Hexadecimal. */
  readonly sha256: string | undefined;
  readonly checksum: ExpectedChecksum | undefined;
}

export interface ExpectedChecksum {
  readonly algorithm: ChecksumAlgorithm;
  /** Base64; undefined if it follows the body. */
  readonly value: string | undefined;
}

const checksumPrefix = 'x-amz-checksum-';
/** Names with the same prefix that are not digests. */
const otherNames = ['algorithm', 'mode', 'type'];
const md5Bytes = 16;

export function readExpected(request: SignedRequest, payload: Payload): Expected {
  const md5 = headerOf(request, 'content-md5');
  if (md5 !== undefined && !isBase64Of(md5, md5Bytes)) {
    throw new S3Error('InvalidDigest', 'Content-MD5 must be 16 bytes in base64.');
  }
  return {
    length: readLength(request, payload),
    md5,
    sha256: payload.kind === 'signed' ? payload.sha256 : undefined,
    checksum: readChecksum(request, payload),
  };
}

function readLength(request: SignedRequest, payload: Payload): number {
  const isChunked = payload.kind === 'chunked';
  const name = isChunked ? 'x-amz-decoded-content-length' : 'content-length';
  const text = headerOf(request, name);
  if (text === undefined) {
    // Without either header a request has no body.
    if (!isChunked && headerOf(request, 'transfer-encoding') === undefined) return 0;
    throw new S3Error('MissingContentLength', `A body needs the header ${name}.`);
  }
  if (!/^\d{1,15}$/.test(text)) {
    throw new S3Error('InvalidArgument', `${name} must be a number of bytes.`);
  }
  return Number(text);
}

function readChecksum(request: SignedRequest, payload: Payload): ExpectedChecksum | undefined {
  const isTrailed = payload.kind === 'chunked' && payload.hasTrailer;
  const announced = headerOf(request, 'x-amz-trailer');
  if (announced !== undefined && !isTrailed) {
    throw new S3Error('InvalidRequest', 'x-amz-trailer needs a body that is sent with a trailer.');
  }
  const trailed = (announced ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
    .map((name): ExpectedChecksum => ({ algorithm: algorithmOf(name), value: undefined }));
  const sent = (isCompletion(request) ? [] : request.headers)
    .filter(([name]) => name.startsWith(checksumPrefix))
    .filter(([name]) => !otherNames.includes(name.slice(checksumPrefix.length)))
    .map(([name, value]) => ({ algorithm: algorithmOf(name), value }));
  const [checksum, ...more] = [...sent, ...trailed];
  if (more.length > 0) {
    throw new S3Error('InvalidRequest', 'The request names several checksums: send only one.');
  }
  if (checksum?.value !== undefined) requireChecksum(checksum.algorithm, checksum.value);
  return checksum;
}

/** Returns whether the request's checksums belong to the object instead of the request's body. */
function isCompletion({ method, rawQuery }: SignedRequest): boolean {
  return method === 'POST' && parseQuery(rawQuery).some(([name]) => name === 'uploadId');
}

function algorithmOf(header: string): ChecksumAlgorithm {
  const isChecksumName = header.startsWith(checksumPrefix);
  const algorithm = isChecksumName ? checksumNamed(header.slice(checksumPrefix.length)) : undefined;
  if (algorithm !== undefined) return algorithm;
  throw new S3Error(
    'NotImplemented',
    `${header} is not supported: send x-amz-checksum-<algorithm>, one of ${checksumNames}.`,
  );
}

export function requireChecksum(algorithm: ChecksumAlgorithm, value: string): void {
  if (isChecksum(algorithm, value)) return;
  throw new S3Error(
    'InvalidRequest',
    `Value for ${checksumHeader(algorithm)} header is invalid: it must be the digest in base64.`,
  );
}
