// What the gateway itself answers when it can't pass a canister's answer on: a code, its HTTP
// status (those of the network's gateways) and a reason in words, as a small JSON page.

/** Status of each of the gateway's own errors, as ic-gateway answers them. */
const statusByCode = {
  MalformedRequest: 400,
  UnknownHost: 400,
  CanisterIdInvalid: 400,
  CanisterIdMissing: 400,
  CanisterNotFound: 404,
  BodyTooLarge: 413,
  UrlTooLong: 414,
  RateLimited: 429,
  InternalError: 500,
  CanisterRejected: 503,
  ResponseInvalid: 503,
  ResponseTooLarge: 503,
  ResponseVerificationFailed: 503,
} as const;

export type GatewayErrorCode = keyof typeof statusByCode;

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: GatewayErrorCode;

  constructor(code: GatewayErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  get status(): number {
    return statusByCode[this.code];
  }
}

/** Any failure as a GatewayError: what is not one already is the gateway's own fault. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new GatewayError('InternalError', `The gateway failed: ${reason}`);
}

/** The JSON page that tells the client why. */
export function errorPage(error: GatewayError, requestId: string): Uint8Array {
  const { code, message } = error;
  return new TextEncoder().encode(`${JSON.stringify({ error: { code, message, requestId } })}\n`);
}
