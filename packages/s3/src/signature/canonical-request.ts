// Computes Signature Version 4 of a request. As in S3, paths are escaped once, never normalized.

import { createHash, createHmac } from 'node:crypto';
import { decodePath, headerOf, parseQuery, type SignedRequest, utf8Of } from './signed-request.ts';

export interface Scope {
  /** `20130524`. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

export interface Signed {
  readonly request: SignedRequest;
  /** Lower-case names. */
  readonly signedHeaders: readonly string[];
  /** `20130524T000000Z`. */
  readonly time: string;
  readonly scope: Scope;
  /** The last line of the canonical request. */
  readonly payloadHash: string;
}

/** Escapes all characters except letters, digits and `-._~`. */
function escapeText(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  });
}

function canonicalPath({ rawPath }: SignedRequest): string {
  return decodePath(rawPath).split('/').map(escapeText).join('/');
}

/** Returns the query without its signature, sorted by escaped name and then by escaped value. */
function canonicalQuery({ rawQuery }: SignedRequest): string {
  return parseQuery(rawQuery)
    .filter(([name]) => name.toLowerCase() !== 'x-amz-signature')
    .map(([name, value]) => `${escapeText(name)}\0${escapeText(value)}`)
    .sort()
    .map((pair) => pair.replace('\0', '='))
    .join('&');
}

function canonicalHeader(request: SignedRequest, name: string): string {
  const value = utf8Of(headerOf(request, name) ?? '');
  return `${name}:${value.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '')}\n`;
}

/** Returns the string to sign: AWS, "Create a signed AWS API request", steps 1 to 3. */
function textToSign({ request, signedHeaders, time, scope, payloadHash }: Signed): string {
  const names = [...new Set(signedHeaders)].sort();
  const canonical = [
    request.method,
    canonicalPath(request),
    canonicalQuery(request),
    names.map((name) => canonicalHeader(request, name)).join(''),
    names.join(';'),
    payloadHash,
  ].join('\n');
  const hash = createHash('sha256').update(canonical).digest('hex');
  return `AWS4-HMAC-SHA256\n${time}\n${scopeText(scope)}\n${hash}`;
}

/** `20130524/us-east-1/s3/aws4_request`. */
export function scopeText({ date, region, service }: Scope): string {
  return `${date}/${region}/${service}/aws4_request`;
}

/** Derives the key for all signatures in the scope from a secret access key. */
export function signingKey(secretAccessKey: string, scope: Scope): Uint8Array {
  return scopeText(scope)
    .split('/')
    .reduce<Uint8Array>(hmac, Buffer.from(`AWS4${secretAccessKey}`));
}

function hmac(key: Uint8Array, text: string): Uint8Array {
  return createHmac('sha256', key).update(text).digest();
}

/** Returns the signature in hexadecimal; throws InvalidURI if path or query cannot be decoded. */
export function signatureOf(signed: Signed, key: Uint8Array): string {
  return Buffer.from(hmac(key, textToSign(signed))).toString('hex');
}
