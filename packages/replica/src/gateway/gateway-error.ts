// The gateway's own errors: a code, its HTTP status and cause as on the network, and a reason.

import { STATUS_CODES } from 'node:http';

/** Statuses of the gateway's own errors, as in ic-gateway. */
const statusByCode = {
  MalformedRequest: 400,
  UnknownHost: 400,
  CanisterIdInvalid: 400,
  CanisterIdMissing: 400,
  CanisterNotFound: 404,
  BodyTimedOut: 408,
  BodyTooLarge: 413,
  RateLimited: 429,
  InternalError: 500,
  CanisterRejected: 503,
  ReplicaFailed: 503,
  ResponseInvalid: 503,
  ResponseTooLarge: 503,
  ResponseVerificationFailed: 503,
} as const;

export type GatewayErrorCode = keyof typeof statusByCode;

/** The values of `x-ic-error-cause` that ic-gateway sends (`src/routing/error_cause.rs`). */
const causeByCode: Readonly<Record<GatewayErrorCode, string>> = {
  MalformedRequest: 'client_malformed_request',
  UnknownHost: 'client_unknown_domain',
  CanisterIdInvalid: 'canister_id_incorrect',
  CanisterIdMissing: 'canister_id_not_resolved',
  CanisterNotFound: 'canister_not_found',
  BodyTimedOut: 'client_body_timeout',
  BodyTooLarge: 'client_body_too_large',
  RateLimited: 'rate_limited',
  InternalError: 'internal_server_error',
  CanisterRejected: 'backend_other',
  ReplicaFailed: 'backend_http_gateway',
  ResponseInvalid: 'backend_http_gateway',
  ResponseTooLarge: 'backend_http_gateway',
  ResponseVerificationFailed: 'backend_response_verification',
};

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: GatewayErrorCode;
  /** For `x-ic-error-cause`. */
  readonly errorCause: string;

  constructor(code: GatewayErrorCode, message: string, errorCause = causeByCode[code]) {
    super(message);
    this.code = code;
    this.errorCause = errorCause;
  }

  get status(): number {
    return statusByCode[this.code];
  }
}

/** The gateway's error for a status other than 2xx of a replica, in the words of ic-agent. */
export function replicaFailed(status: number, text: string): GatewayError {
  return new GatewayError(
    'ReplicaFailed',
    `The replica returned an HTTP Error: Http Error: status ${status} ${STATUS_CODES[status]}, ` +
      `content type "text/plain; charset=utf-8", content: ${text}`,
  );
}

/** Converts any failure to a GatewayError; unknown ones are the gateway's own fault. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new GatewayError('InternalError', `The gateway failed: ${reason}`);
}
