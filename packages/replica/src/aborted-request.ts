// The error of a request that gets no answer.

/** Thrown if the client is gone or must get no answer; the connection then ends. */
export class AbortedRequest extends Error {
  override readonly name = 'AbortedRequest';
}
