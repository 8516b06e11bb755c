// Requests that the HTTP server passes to the agent endpoints, their answers, and failures that
// become plain-text answers.

export interface AgentRequest {
  readonly method: string;
  /** Path of the URL, percent-encoded as received, without query string. */
  readonly path: string;
  readonly body: Uint8Array;
}

export interface AgentResponse {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** The network's nodes do not read longer bodies at /api, so the HTTP server may stop there. */
export const agentBodyBytesMax = 5 * 1_048_576;

/** A fault of the caller, thrown before anything has changed. */
export class AgentRequestError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'AgentRequestError';
    this.status = status;
  }
}

export function badRequest(message: string): AgentRequestError {
  return new AgentRequestError(400, message);
}

export function cborResponse(body: Uint8Array): AgentResponse {
  return { status: 200, contentType: 'application/cbor', body };
}

export function textResponse(status: number, message: string): AgentResponse {
  return { status, contentType: 'text/plain; charset=utf-8', body: Buffer.from(message) };
}
