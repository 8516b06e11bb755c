// The place of a mirror in S3: bucket and prefix of --to, endpoint, region, and the credentials of
// AWS's environment variables. The credentials are neither printed nor stored.

import type { Environment } from '../../config/profiles.ts';
import { UsageError } from '../../output/usage-error.ts';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface S3Place {
  readonly bucket: string;
  /** Empty, or ends in a slash. */
  readonly prefix: string;
  /** Undefined for AWS. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly credentials: S3Credentials;
  /** Bucket and prefix, with the endpoint's host unless it is AWS: names the state file. */
  readonly name: string;
}

const example = 's3://BUCKET or s3://BUCKET/PREFIX';

export function isS3(text: string): boolean {
  return /^s3:/i.test(text);
}

export function s3Place(
  text: string,
  flags: { readonly endpoint?: string | undefined },
  environment: Environment,
): S3Place {
  const variable = (name: string) => environment[name]?.trim() || undefined;
  const [, bucket = '', folder = ''] = /^s3:\/\/([a-z0-9][\w.-]*)\/?(.*)$/is.exec(text) ?? [];
  if (bucket === '' || folder.startsWith('/')) {
    throw new UsageError(`"${text}" names no S3 bucket to mirror to: write ${example}.`);
  }
  const prefix = folder === '' || folder.endsWith('/') ? folder : `${folder}/`;
  const endpoint = endpointOf(
    flags.endpoint ?? variable('AWS_ENDPOINT_URL_S3') ?? variable('AWS_ENDPOINT_URL'),
  );
  const host = endpoint === undefined ? '' : `${new URL(endpoint).host}/`;
  return {
    ...{ bucket, prefix, endpoint },
    region: variable('AWS_REGION') ?? variable('AWS_DEFAULT_REGION') ?? 'us-east-1',
    credentials: credentialsIn(variable),
    name: `s3://${host}${bucket}/${prefix}`,
  };
}

function endpointOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password) {
    throw new UsageError(
      'The endpoint contains credentials: give them by AWS_ACCESS_KEY_ID and ' +
        'AWS_SECRET_ACCESS_KEY.',
    );
  }
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.href;
  throw new UsageError(
    `The endpoint "${text}" is not an address: write one such as https://s3.example.com.`,
  );
}

function credentialsIn(variable: (name: string) => string | undefined): S3Credentials {
  const accessKeyId = variable('AWS_ACCESS_KEY_ID');
  const secretAccessKey = variable('AWS_SECRET_ACCESS_KEY');
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new UsageError(
      'A mirror in S3 needs the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and ' +
        'AWS_SESSION_TOKEN for temporary credentials: set them in the environment.',
    );
  }
  return { accessKeyId, secretAccessKey, sessionToken: variable('AWS_SESSION_TOKEN') };
}
