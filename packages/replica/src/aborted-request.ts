// The error of a request that gets no answer.

/** The client is gone, or no answer must be sent: the connection ends without one. */
export class AbortedRequest extends Error {
  override readonly name = 'AbortedRequest';
}
