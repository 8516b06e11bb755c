// Why a request gets no answer at all.

/** There is nobody left to answer, or no answer is to be given: the connection ends without one. */
export class AbortedRequest extends Error {
  override readonly name = 'AbortedRequest';
}
