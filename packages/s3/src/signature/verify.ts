// Identifies the caller by the request's signature: Signature Version 4, in a header or presigned.
//
// As in S3, a request can be replayed unchanged for 15 minutes, or until a presigned one expires.
// Whoever can read the connection can repeat calls, but cannot learn the secret key; use TLS in
// front of the S3 server if that matters.

import { S3Error } from '../s3-error.ts';
import { type Claim, readClaim } from './authorization.ts';
import { scopeText, signatureOf, signingKey } from './canonical-request.ts';
import { ChunkSigner } from './chunk-signer.ts';
import { isSameText } from './same-text.ts';
import { type Header, headerOf, parseQuery, type SignedRequest } from './signed-request.ts';

/** The rights behind an access key: a profile of the command, or an API key with its service. */
export type Access =
  | { readonly profile: string }
  | { readonly apiKey: string; readonly url: string };

/** The name of an access key and its rights, without its secret. */
export interface Credential {
  readonly accessKeyId: string;
  readonly access: Access;
}

export interface AccessKey extends Credential {
  readonly secretAccessKey: string;
}

export interface Credentials {
  find(accessKeyId: string): Promise<AccessKey | undefined>;
}

export interface Caller {
  /** Undefined for an unsigned request. */
  readonly accessKeyId: string | undefined;
  readonly credential?: Credential;
}

/** The encoding of the body, and which parts of it are signed. */
export type Payload =
  | { readonly kind: 'unsigned' }
  | { readonly kind: 'signed' /** In hexadecimal digits. */; readonly sha256: string }
  | {
      readonly kind: 'chunked';
      /** Absent if the chunks have no signatures. */
      readonly chunkSigner?: ChunkSigner;
      readonly hasTrailer: boolean;
    };

export interface Authenticated {
  readonly caller: Caller;
  readonly payload: Payload;
  /** The headers of the request; a presigned request can have some of them in its query. */
  readonly headers: readonly Header[];
}

const skewMsMax = 15 * 60_000;
const unsigned = 'UNSIGNED-PAYLOAD';
const chunkedUnsigned = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER';
const chunkedSigned = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD';
const chunkedSignedTrailer = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER';

/** Returns the caller and the encoding of the body. Throws S3Error for a wrong signature. */
export async function authenticate(
  request: SignedRequest,
  credentials: Credentials,
  now: Date,
): Promise<Authenticated> {
  const claim = readClaim(request);
  if (claim === undefined) {
    const { headers } = request;
    return { caller: { accessKeyId: undefined }, payload: payloadOf(request), headers };
  }
  const headers = claim.form === 'query' ? withHoisted(request) : request.headers;
  const payloadHash = payloadHashOf({ headers }, claim);
  if (headerOf({ headers }, 'x-amz-security-token') !== undefined) {
    throw new S3Error(
      'InvalidToken',
      'Session tokens are not supported: send an access key without one.',
    );
  }
  requireSigned(request, claim);
  const key = await credentials.find(claim.accessKeyId);
  if (key === undefined) {
    throw new S3Error('InvalidAccessKeyId', 'The access key does not exist on this server.');
  }
  requireInTime(claim, now.getTime());
  const secret = signingKey(key.secretAccessKey, claim.scope);
  const right = signatureOf({ ...claim, request, payloadHash }, secret);
  if (!isSameText(right, claim.signature)) {
    throw new S3Error(
      'SignatureDoesNotMatch',
      'The signature does not match this request and access key: check the secret key, and how ' +
        'the request is signed.',
    );
  }
  const { accessKeyId, access } = key;
  const { time, signature: seed } = claim;
  const signer = () => new ChunkSigner(secret, { time, scope: scopeText(claim.scope), seed });
  const credential = { accessKeyId, access };
  return { caller: { accessKeyId, credential }, payload: payloadOf({ headers }, signer), headers };
}

/** Adds the headers that signers of presigned requests put into the query, as S3 does. */
function withHoisted({ headers, rawQuery }: SignedRequest): Header[] {
  const known = new Map(headers);
  const hoisted: Header[] = [];
  for (const [name, value] of parseQuery(rawQuery)) {
    const header = name.toLowerCase();
    if (!header.startsWith('x-amz-') || isOfSignature(header)) continue;
    if (known.has(header) && known.get(header) !== value) {
      throw new S3Error('InvalidRequest', `${header} occurs twice with different values.`);
    }
    if (!known.has(header)) hoisted.push([header, value]);
    known.set(header, value);
  }
  return [...headers, ...hoisted];
}

function isOfSignature(name: string): boolean {
  return /^x-amz-(?:algorithm|credential|date|signedheaders|expires|signature)$/.test(name);
}

function payloadHashOf(request: Pick<SignedRequest, 'headers'>, { form }: Claim): string {
  const hash = headerOf(request, 'x-amz-content-sha256');
  if (hash !== undefined) return hash;
  if (form === 'query') return unsigned;
  throw new S3Error('InvalidRequest', 'A signed request needs the header x-amz-content-sha256.');
}

function requireSigned({ headers }: SignedRequest, { signedHeaders }: Claim): void {
  if (!signedHeaders.includes('host')) {
    throw new S3Error('AccessDenied', 'The header host must be signed.');
  }
  for (const [name] of headers) {
    if (!name.startsWith('x-amz-') || signedHeaders.includes(name)) continue;
    throw new S3Error('AccessDenied', `The header ${name} must be signed.`);
  }
}

function requireInTime({ expiresSeconds, timeMs }: Claim, now: number): void {
  if (expiresSeconds === undefined) {
    if (Math.abs(now - timeMs) <= skewMsMax) return;
    throw new S3Error(
      'RequestTimeTooSkewed',
      "The time of the request differs by more than 15 minutes from the server's: set the clocks.",
    );
  }
  if (timeMs > now + skewMsMax) throw new S3Error('AccessDenied', 'Request is not valid yet');
  if (now > timeMs + expiresSeconds * 1000) {
    throw new S3Error('AccessDenied', 'Request has expired');
  }
}

function payloadOf(request: Pick<SignedRequest, 'headers'>, signer?: () => ChunkSigner): Payload {
  const hash = headerOf(request, 'x-amz-content-sha256') ?? unsigned;
  if (hash === unsigned) return { kind: 'unsigned' };
  if (hash === chunkedUnsigned) return { kind: 'chunked', hasTrailer: true };
  if (hash === chunkedSigned || hash === chunkedSignedTrailer) {
    if (signer === undefined) {
      throw new S3Error('AccessDenied', 'Chunks are signed, but the request is not.');
    }
    const hasTrailer = hash === chunkedSignedTrailer;
    return { kind: 'chunked', chunkSigner: signer(), hasTrailer };
  }
  if (hash.startsWith('STREAMING-AWS4-ECDSA')) {
    throw new S3Error(
      'NotImplemented',
      'Signature Version 4A is not supported: sign with AWS4-HMAC-SHA256.',
    );
  }
  if (/^[0-9a-fA-F]{64}$/.test(hash)) return { kind: 'signed', sha256: hash.toLowerCase() };
  throw new S3Error(
    'InvalidArgument',
    `x-amz-content-sha256 must be ${unsigned}, a SHA-256 in hexadecimal digits, or one of ` +
      `${chunkedUnsigned}, ${chunkedSigned} and ${chunkedSignedTrailer}.`,
  );
}
