// Which rejects of a call may pass: nothing was carried out then, and the same call can be sent
// again. IC spec, "Reject codes".

const systemTransient = 2;
const canisterReject = 4;
/** Of the canister's native part (kernel/outgoing-calls.ts), to a call that waited in vain. */
export const upgradedWords = 'The canister was upgraded while this call waited: try again.';

export function isTransientReject(code: number | undefined, message: string | undefined): boolean {
  return code === systemTransient || (code === canisterReject && message === upgradedWords);
}
