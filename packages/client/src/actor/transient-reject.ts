// Recognizes rejects after which the same call can be sent again, because nothing was executed. IC
// spec, "Reject codes".

const systemTransient = 2;
const canisterReject = 4;
/**
 * The reject of the canister's kernel (kernel/outgoing-calls.ts) to a call that waited across an
 * upgrade.
 */
export const upgradedWords = 'The canister was upgraded while this call waited: try again.';

export function isTransientReject(code: number | undefined, message: string | undefined): boolean {
  return code === systemTransient || (code === canisterReject && message === upgradedWords);
}
