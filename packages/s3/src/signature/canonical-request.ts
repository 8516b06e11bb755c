// The signature that a request should have, under Signature Version 4 as S3 has it: the path is
// escaped once and never normalised.

import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { getCanonicalHeaders, getSigningKey, SignatureV4Base } from '@smithy/signature-v4';
import { decodePath, headerOf, parseQuery, type SignedRequest, utf8Of } from './signed-request.ts';

/** The credential scope of a signature. */
export interface Scope {
  /** `20130524`. */
  readonly date: string;
  readonly region: string;
  readonly service: string;
}

export interface SigningKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
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

class Sha256 {
  #hash: Hash | Hmac;
  readonly #secret: Uint8Array | string | undefined;

  constructor(secret?: Uint8Array | string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret as Uint8Array | string | undefined;
    this.#hash = this.#begin();
  }

  #begin(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret);
  }

  reset(): void {
    this.#hash = this.#begin();
  }

  update(bytes: Uint8Array): void {
    this.#hash.update(bytes);
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
}

/** The library's own signer chooses date and headers itself; here those of the sender count. */
class Canonical extends SignatureV4Base {
  constructor(service: string) {
    const none = { accessKeyId: '', secretAccessKey: '' };
    super({ service, region: '', credentials: none, sha256: Sha256, uriEscapePath: false });
  }

  textToSign({ request, signedHeaders, time, scope, payloadHash }: Signed): Promise<string> {
    const names = new Set(signedHeaders);
    const headers = Object.fromEntries(
      signedHeaders.map((name) => [name, utf8Of(headerOf(request, name) ?? '')]),
    );
    const plain = {
      method: request.method,
      protocol: 'http:',
      hostname: '',
      path: escapePath(decodePath(request.rawPath)),
      query: queryOf(request),
      headers,
    };
    const canonicalHeaders = getCanonicalHeaders(plain, undefined, names);
    const text = this.createCanonicalRequest(plain, canonicalHeaders, payloadHash);
    return this.createStringToSign(time, scopeText(scope), text, 'AWS4-HMAC-SHA256');
  }
}

function escapePath(path: string): string {
  return path
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(/[!'()*]/g, (character) => {
        return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
      }),
    )
    .join('/');
}

function queryOf(request: SignedRequest): Record<string, string[]> {
  const query = new Map<string, string[]>();
  for (const [name, value] of parseQuery(request.rawQuery)) {
    query.set(name, [...(query.get(name) ?? []), value]);
  }
  return Object.fromEntries(query);
}

/** `20130524/us-east-1/s3/aws4_request`. */
export function scopeText({ date, region, service }: Scope): string {
  return `${date}/${region}/${service}/aws4_request`;
}

export function signingKey(keys: SigningKeys, scope: Scope): Promise<Uint8Array> {
  return getSigningKey(Sha256, keys, scope.date, scope.region, scope.service);
}

/** In hexadecimal digits. Throws InvalidURI where path or query cannot be read. */
export async function signatureOf(signed: Signed, key: Uint8Array): Promise<string> {
  const text = await new Canonical(signed.scope.service).textToSign(signed);
  return createHmac('sha256', key).update(text).digest('hex');
}
