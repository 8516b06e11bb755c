// The signature's parameters in the Authorization header or the query. Parsing is strict: a form
// that S3 does not accept is refused with its reason.

import { type S3Code, S3Error } from '../s3-error.ts';
import type { Scope } from './canonical-request.ts';
import { headerOf, parseQuery, type SignedRequest } from './signed-request.ts';

export interface Claim {
  readonly form: 'header' | 'query';
  readonly accessKeyId: string;
  readonly scope: Scope;
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** In its signed form, `20130524T000000Z`. */
  readonly time: string;
  readonly timeMs: number;
  /** The seconds for which a presigned request is valid after its time. */
  readonly expiresSeconds: number | undefined;
}

const algorithm = 'AWS4-HMAC-SHA256';
const expiresSecondsMax = 604_800;
/** Parameters of version 2; one of them is enough to recognize it. */
const formerParameters = ['AWSAccessKeyId', 'Signature'];
const queryFields = ['Algorithm', 'Credential', 'Date', 'SignedHeaders', 'Expires', 'Signature'];

/** Returns the signature's parameters; undefined for an unsigned request. Throws S3Error. */
export function readClaim(request: SignedRequest): Claim | undefined {
  const parameters = parseQuery(request.rawQuery);
  const isPresigned = parameters.some(([name]) =>
    isOneOf(name, ['X-Amz-Algorithm', 'X-Amz-Signature']),
  );
  const isFormer = parameters.some(([name]) => formerParameters.includes(name));
  const header = headerOf(request, 'authorization');
  if (header !== undefined && (isPresigned || isFormer)) {
    throw new S3Error(
      'InvalidArgument',
      'Sign in the Authorization header or in the query, not in both.',
    );
  }
  if (isFormer) throw formerVersion();
  if (isPresigned) return queryClaim(parameters);
  return header === undefined ? undefined : headerClaim(request, header);
}

function isOneOf(name: string, names: readonly string[]): boolean {
  return names.some((other) => other.toLowerCase() === name.toLowerCase());
}

function formerVersion(): S3Error {
  return new S3Error(
    'InvalidRequest',
    `Signature Version 2 is not supported: sign with Version 4 (${algorithm}).`,
  );
}

function requireAlgorithm(name: string, code: S3Code): void {
  if (name === algorithm) return;
  if (name === 'AWS4-ECDSA-P256-SHA256') {
    throw new S3Error(
      'NotImplemented',
      `Signature Version 4A is not supported: sign with ${algorithm}.`,
    );
  }
  throw new S3Error(code, `The algorithm must be ${algorithm}.`);
}

function headerClaim(request: SignedRequest, header: string): Claim {
  const code = 'AuthorizationHeaderMalformed';
  const space = header.indexOf(' ');
  const scheme = space === -1 ? header : header.slice(0, space);
  if (scheme === 'AWS') throw formerVersion();
  if (!scheme.startsWith('AWS4-')) {
    throw new S3Error('InvalidArgument', `Authorization must begin with ${algorithm}.`);
  }
  requireAlgorithm(scheme, code);
  const fields = new Map<string, string>();
  for (const part of header.slice(scheme.length).split(',')) {
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(equals, 0)).trim();
    if (fields.has(name)) throw new S3Error(code, `${name || 'A field'} occurs twice.`);
    fields.set(name, part.slice(equals + 1).trim());
  }
  const text = (name: string): string => {
    const value = fields.get(name);
    if (value) return value;
    throw new S3Error(code, 'Authorization must have Credential, SignedHeaders and Signature.');
  };
  if (fields.size !== 3)
    throw new S3Error(code, 'Authorization must have three fields, separated by commas.');
  return {
    ...readFields({ text, time: timeOf(request), code }),
    form: 'header',
    expiresSeconds: undefined,
  };
}

/** The date of RFC 9110 §5.6.7, or of RFC 5322 as Python writes it. */
const httpDate = /^\w{3}, \d\d \w{3} \d{4} [\d:]{8} (?:GMT|[+-]0000)$/;

/** Returns `x-amz-date`, or else `date` in the same form. */
function timeOf(request: SignedRequest): string {
  const time = headerOf(request, 'x-amz-date');
  if (time !== undefined) return time;
  const date = headerOf(request, 'date');
  if (date === undefined) {
    throw new S3Error('AccessDenied', 'A signed request needs the header x-amz-date or date.');
  }
  const ms = httpDate.test(date) ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) ? date : new Date(ms).toISOString().replace(/[-:]|\.\d{3}/g, '');
}

function queryClaim(parameters: readonly (readonly [string, string])[]): Claim {
  const code = 'AuthorizationQueryParametersError';
  const text = (name: string): string => {
    const own = parameters.filter(([other]) => isOneOf(other, [`X-Amz-${name}`]));
    const [found] = own;
    if (own.length === 1 && found?.[1] && found[0] === `X-Amz-${name}`) return found[1];
    const all = queryFields.map((field) => `X-Amz-${field}`).join(', ');
    throw new S3Error(code, `A presigned request must have each of ${all} once.`);
  };
  requireAlgorithm(text('Algorithm'), code);
  const expires = text('Expires');
  const expiresSeconds = /^\d{1,7}$/.test(expires) ? Number(expires) : 0;
  if (expiresSeconds < 1 || expiresSeconds > expiresSecondsMax) {
    throw new S3Error(code, `X-Amz-Expires must be 1 to ${expiresSecondsMax} seconds.`);
  }
  return { ...readFields({ text, time: text('Date'), code }), form: 'query', expiresSeconds };
}

interface Fields {
  readonly text: (name: string) => string;
  readonly time: string;
  readonly code: S3Code;
}

function readFields({ text, time, code }: Fields): Omit<Claim, 'form' | 'expiresSeconds'> {
  const parts = text('Credential').split('/');
  const [accessKeyId = '', date = '', region = '', service, end] = parts;
  if (parts.length !== 5 || end !== 'aws4_request' || accessKeyId === '') {
    throw new S3Error(
      code,
      'Credential must be <access key id>/YYYYMMDD/<region>/s3/aws4_request.',
    );
  }
  if (service !== 's3') throw new S3Error(code, 'The service of the credential must be s3.');
  if (!/^[a-zA-Z0-9-]{1,64}$/.test(region)) {
    throw new S3Error(code, 'The region of the credential must be letters, digits and hyphens.');
  }
  const timeMs = readTime(time);
  if (timeMs === undefined) {
    const where = code === 'AuthorizationHeaderMalformed' ? 'AccessDenied' : code;
    throw new S3Error(where, 'X-Amz-Date must be a time such as 20130524T000000Z.');
  }
  if (date !== time.slice(0, 8)) {
    throw new S3Error(code, 'The date of the credential must match X-Amz-Date.');
  }
  const signature = text('Signature');
  if (!/^[0-9a-f]{64}$/.test(signature)) {
    throw new S3Error('SignatureDoesNotMatch', 'The signature must have 64 hexadecimal digits.');
  }
  const signedHeaders = text('SignedHeaders').split(';');
  if (signedHeaders.some((name) => name !== name.toLowerCase())) {
    throw new S3Error(code, 'SignedHeaders must be names in lower case, separated by semicolons.');
  }
  return { accessKeyId, scope: { date, region, service }, signedHeaders, signature, time, timeMs };
}

/** Parses `20130524T000000Z` to milliseconds since 1970; undefined if it is not a time. */
function readTime(text: string): number | undefined {
  const fields = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text);
  if (fields === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields
    .slice(1)
    .map(Number);
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  const isReal = new Date(time).toISOString().replace(/[-:]|\.000/g, '') === text;
  return isReal ? time : undefined;
}
