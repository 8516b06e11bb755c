// What every message asks of the system, by Azle's native functions: what Azle offers canisters
// takes 4,000 instructions more a call, and makes a Principal of a caller of whom bytes are wanted.

const azle = globalThis._azleIc;
if (azle === undefined) throw new Error('Azle has not set up its native functions');

export const { dataCertificate, isController, msgArgData, msgCaller, time } = azle;
