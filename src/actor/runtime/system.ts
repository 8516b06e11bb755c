// System calls of every message, by Azle's native functions: its public ones take 4,000
// instructions more a call, and convert a caller to a Principal where bytes are wanted.

const azle = globalThis._azleIc;
if (azle === undefined) throw new Error('Azle has not set up its native functions');

export const { dataCertificate, isController, msgArgData, msgCaller, time } = azle;
