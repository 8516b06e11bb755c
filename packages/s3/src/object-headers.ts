// Header fields that a request stores with an object, and the header fields of its answers.

import type { StoredHeaders } from '../../client/src/types/files.ts';
import { storedHeaderNames } from '../../wire/src/stored-headers.ts';
import { lockHeadersOf } from './object-lock.ts';
import type { S3Request } from './request.ts';
import { S3Error } from './s3-error.ts';
import { type OwnFacts, ownPrefix, type StoredObject, unknownType } from './stored-object.ts';
import { tagsOfQuery, wordsOf } from './tags.ts';

export interface Description {
  readonly contentType: string;
  /** Stored with the file, so that its public address serves them too. */
  readonly headers: StoredHeaders;
  readonly expires: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** Tags as words. */
  readonly tags: readonly string[];
}

export function descriptionOf(request: S3Request): Description {
  return {
    contentType: request.header('content-type') || unknownType,
    headers: storedHeadersOf(request),
    expires: request.header('expires'),
    metadata: userMetadataOf(request),
    tags: wordsOf(tagsOfQuery(request.header('x-amz-tagging'))),
  };
}

function storedHeadersOf(request: S3Request): StoredHeaders {
  // The framing of the body is not a property of the object.
  const encoding = request
    .header('content-encoding')
    ?.split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one.toLowerCase() !== 'aws-chunked')
    .join(', ');
  const fields = storedHeaderNames.map((name) => {
    return [name, name === 'Content-Encoding' ? encoding : request.header(name.toLowerCase())];
  });
  return Object.fromEntries(fields.filter(([, value]) => value));
}

function userMetadataOf(request: S3Request): Record<string, string> {
  const pairs = request.headersBehind('x-amz-meta-');
  for (const [name, value] of pairs) {
    if (!/^[a-z0-9._-]{1,64}$/.test(name) || name.startsWith(ownPrefix)) {
      throw new S3Error(
        'InvalidArgument',
        'A name of metadata must have 1 to 64 characters of a-z 0-9 . _ - and not begin with ' +
          `${ownPrefix}; got ${JSON.stringify(name.slice(0, 80))}.`,
      );
    }
    if (/\p{Cc}/u.test(value)) {
      throw new S3Error('InvalidArgument', `The metadata ${name} has a control character.`);
    }
  }
  return Object.fromEntries(pairs);
}

/** Returns the header fields of an answer to Get and Head. */
export function headersOf(object: StoredObject): Record<string, string | undefined> {
  const metadata = Object.entries(object.metadata).map(
    ([name, value]) => [`x-amz-meta-${name.toLowerCase()}`, wordOf(value)] as const,
  );
  const stored = Object.entries(object.own.headers ?? {});
  const { tags } = object.record;
  return {
    ...Object.fromEntries(metadata),
    ...Object.fromEntries(stored.map(([name, value]) => [name, bytesOf(value)])),
    Expires: object.own.expires,
    ETag: `"${object.etag}"`,
    'Last-Modified': object.modified.toUTCString(),
    'Accept-Ranges': 'bytes',
    'Content-Type': object.contentType,
    'x-amz-server-side-encryption': 'AES256',
    'x-amz-tagging-count': tags.length === 0 ? undefined : String(tags.length),
    ...lockHeadersOf(object.record),
  };
}

/** Returns the stored checksum of the whole object as `x-amz-checksum-…`. */
export function checksumHeadersOf(kept: string | undefined): Record<string, string> {
  const [algorithm = '', value = '', type = 'FULL_OBJECT'] = kept?.split(' ') ?? [];
  if (value === '') return {};
  return {
    [`x-amz-checksum-${algorithm.toLowerCase()}`]: value,
    'x-amz-checksum-type': type,
  };
}

/** Returns the checksum of one part in the form of `own.checksum`, if it is stored. */
export function partChecksumOf(own: OwnFacts, number: number): string | undefined {
  const [algorithm, , type = 'FULL_OBJECT'] = own.checksum?.split(' ') ?? [];
  const value = own.partSums?.split(',')[number - 1];
  return value && `${algorithm} ${value} ${type}`;
}

/** Returns text that is not ASCII as an encoded word (RFC 2047), as S3 does. */
function wordOf(text: string): string {
  const isPlain = /^[\u0020-\u007e]*$/.test(text);
  return isPlain ? text : `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
}

/** Returns UTF-8 with one byte per character, as Node writes header fields. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}
