// Asks the official verifier whether a canister's answer is certified, and which of its headers.
// HTTP gateway specification, "Response Verification". The gateway requests version 2. Answers of
// version 1, which certifies neither status nor headers, are accepted as on the network:
// `dfinity/ic-http-gateway-protocol` has MIN_VERIFICATION_VERSION 1, refuses redirects, and drops
// `cache-control`.

import type { Principal } from '@dfinity/principal';
import { GatewayError } from './gateway-error.ts';
import type { HeaderField, HttpRequest } from './http-messages.ts';
import { runVerifier } from './official-verifier.ts';

const verificationVersionMin = 1;
/** Maximum difference between the time of a certificate and now. */
const certificateAgeNsMax = 300_000_000_000n;

/**
 * The official verifier looks for a wildcard at each prefix of the path: 4,000 segments take it
 * seven seconds, and 1,000 a tenth of a second.
 */
const pathSegmentsMax = 1_000;

export interface VerifiableAnswer {
  readonly status: number;
  readonly headers: readonly HeaderField[];
  readonly body: Uint8Array;
}

export interface VerificationInput {
  readonly request: HttpRequest;
  readonly answer: VerifiableAnswer;
  readonly canisterId: Principal;
  /** DER. */
  readonly rootKey: Uint8Array;
  readonly nowNs: bigint;
}

/**
 * Returns the headers that may be forwarded: the certified ones, or all if the certified expression
 * says that the response is not certified. For version 1: all but `cache-control`. Throws a
 * GatewayError for an untrusted answer.
 */
export function verifyAnswer(input: VerificationInput): readonly HeaderField[] {
  const { request, answer } = input;
  try {
    checkSegments(request.url);
    const verified = runVerifier(
      { ...request, headers: mutable(request.headers), certificate_version: [2] },
      { status_code: answer.status, headers: mutable(answer.headers), body: answer.body },
      input.canisterId.toUint8Array(),
      input.nowNs,
      certificateAgeNsMax,
      input.rootKey,
      verificationVersionMin,
    );
    if (verified.verificationVersion < 2) return headersOfFormer(answer);
    return verified.response?.headers ?? answer.headers;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GatewayError(
      'ResponseVerificationFailed',
      `The canister's answer to ${request.method} ${shortened(request.url)} can't be verified: ` +
        reason,
    );
  }
}

function checkSegments(url: string): void {
  const [path = ''] = url.split('?');
  const segments = path.split('/').length - 1;
  if (segments <= pathSegmentsMax) return;
  throw new Error(`the path has ${segments} segments, and the limit is ${pathSegmentsMax}`);
}

/** Returns the headers of an answer certified by version 1. Throws an Error on a redirect. */
function headersOfFormer({ status, headers }: VerifiableAnswer): readonly HeaderField[] {
  if (status >= 300 && status < 400) {
    throw new Error('response verification version 1 does not allow redirects');
  }
  return headers.filter(([name]) => name.toLowerCase() !== 'cache-control');
}

function shortened(url: string): string {
  return url.length <= 200 ? url : `${url.slice(0, 200)}…`;
}

function mutable(headers: readonly HeaderField[]): [string, string][] {
  return headers.map(([name, value]) => [name, value]);
}
