// System calls that every message makes, by Azle's native functions. Azle's public functions take
// 4,000 more instructions per call, and convert callers to a Principal although bytes are needed.

const azle = globalThis._azleIc;
if (azle === undefined) throw new Error('Azle has not set up its native functions');

export const { dataCertificate, isController, msgArgData, msgCaller, time } = azle;
