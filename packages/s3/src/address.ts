// The bucket and key of a request: both in its path or, if the server has a domain, in its host and
// path (virtual-host addressing). Nothing is normalized: `..` and `//` are ordinary characters of a
// key.

import { bucketIdRefusal, isBucketId } from '../../wire/src/bucket-id.ts';
import { S3Error } from './s3-error.ts';
import { decodePath } from './signature/signed-request.ts';

export interface Address {
  /** Undefined: the request concerns the service. */
  readonly bucket: string | undefined;
  /** Undefined: the request concerns the bucket. */
  readonly key: string | undefined;
}

export interface Addressed {
  /** As sent, up to the question mark. */
  readonly rawPath: string;
  readonly host: string | undefined;
  /** Domain whose subdomains are buckets. */
  readonly domain: string | undefined;
}

/** Throws InvalidURI for a path that is not percent-encoded UTF-8, and InvalidBucketName. */
export function addressOf({ rawPath, host, domain }: Addressed): Address {
  if (!rawPath.startsWith('/')) {
    throw new S3Error('InvalidURI', 'The path of a request must begin with a slash.');
  }
  const hosted = bucketOfHost(host, domain);
  if (hosted !== undefined) return located(hosted, rawPath.slice(1));
  const end = rawPath.indexOf('/', 1);
  const rawBucket = rawPath.slice(1, end === -1 ? undefined : end);
  if (rawBucket === '') {
    if (end === -1) return { bucket: undefined, key: undefined };
    throw invalidBucket('');
  }
  return located(decodePath(rawBucket), end === -1 ? '' : rawPath.slice(end + 1));
}

function located(bucket: string, rawKey: string): Address {
  if (!isBucketId(bucket)) throw invalidBucket(bucket);
  const key = decodePath(rawKey);
  return { bucket, key: key === '' ? undefined : key };
}

function invalidBucket(name: string): S3Error {
  return new S3Error('InvalidBucketName', bucketIdRefusal(JSON.stringify(name.slice(0, 80))));
}

function bucketOfHost(host: string | undefined, domain: string | undefined): string | undefined {
  if (host === undefined || domain === undefined) return undefined;
  const name = host.replace(/:\d+$/, '').toLowerCase();
  const ending = `.${domain.toLowerCase()}`;
  return name.endsWith(ending) ? name.slice(0, -ending.length) : undefined;
}
