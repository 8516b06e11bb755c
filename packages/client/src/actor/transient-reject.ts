// Recognizes rejects of calls that were not executed and can be repeated. IC spec, "Reject codes".

const systemTransient = 2;
const canisterReject = 4;
/** The message by which kernel/outgoing-calls.ts rejects a call that waited across an upgrade. */
export const upgradedWords = 'The canister was upgraded while this call waited: try again.';

export function isTransientReject(code: number | undefined, message: string | undefined): boolean {
  return code === systemTransient || (code === canisterReject && message === upgradedWords);
}
