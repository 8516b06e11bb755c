// The official verifier, a Wasm module, with a fresh instance after each failure: malformed CBOR
// makes it panic, which leaks stack space, and after some panics it would refuse everything.

import { createRequire } from 'node:module';

type Verifier = typeof import('@dfinity/response-verification');
type VerifyArguments = Parameters<Verifier['verifyRequestResponsePair']>;
type VerificationInfo = ReturnType<Verifier['verifyRequestResponsePair']>;

const moduleName = '@dfinity/response-verification';
const require = createRequire(import.meta.url);

let verifier: Verifier | undefined;

export function runVerifier(...input: VerifyArguments): VerificationInfo {
  verifier ??= require(moduleName) as Verifier;
  try {
    return verifier.verifyRequestResponsePair(...input);
  } catch (error) {
    if (error instanceof Error) {
      forgetVerifier();
      throw new Error(`the verifier failed (${error.message})`, { cause: error });
    }
    throw new Error(reasonOf(error, verifier), { cause: error });
  }
}

function forgetVerifier(): void {
  verifier = undefined;
  delete require.cache[require.resolve(moduleName)];
}

/** The verifier's refusals are objects with a code, not instances of Error. */
function reasonOf(refusal: unknown, { ResponseVerificationErrorCode }: Verifier): string {
  if (typeof refusal !== 'object' || refusal === null) return String(refusal);
  const message = 'message' in refusal ? String(refusal.message) : 'no reason given';
  const code = 'code' in refusal ? Number(refusal.code) : Number.NaN;
  const name = ResponseVerificationErrorCode[code];
  return name === undefined ? message : `${name}: ${message}`;
}
