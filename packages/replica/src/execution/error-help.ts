// The advice with which the network ends the errors of canisters. `dfinity/ic`
// rs/interfaces/src/execution_environment/errors.rs, AsErrorHelp.

import type { ErrorCode } from './error-codes.ts';

const documentation = 'https://internetcomputer.org/docs/current/references/execution-errors';

const gracefully =
  'Consider gracefully handling failures from this canister or altering the canister to handle ' +
  'exceptions.';

/** The advice and the section of the documentation, by error code. */
const helps: Partial<Record<ErrorCode, readonly [advice: string, section: string]>> = {
  IC0502: [gracefully, 'trapped'],
  IC0503: [gracefully, 'trapped-explicitly'],
  IC0522: [
    'Try optimizing this method to consume fewer instructions or split the work across multiple ' +
      'messages.',
    'instruction-limit-exceeded',
  ],
  IC0524: [
    "Try optimizing the use of stable memory so that individual messages don't need to access as " +
      'much stable memory.',
    'memory-access-limit-exceeded',
  ],
  IC0532: ['Try topping up the canister.', 'insufficient-cycles-in-memory-grow'],
  IC0534: [
    "Try increasing the canister's reserved cycles limit.",
    'reserved-cycles-limit-exceeded-in-memory-grow',
  ],
  IC0536: [
    'Check that the method being called is exported by the target canister.',
    'method-not-found',
  ],
  IC0537: ['Please install code to this canister before calling it.', 'wasm-module-not-found'],
  IC0539: [
    'Try checking the canister for a possible memory leak or modifying it to use more stable ' +
      'memory instead of Wasm memory.',
    'wasm-memory-limit-exceeded',
  ],
};

/** The network's sentence is longer. */
const toolchainHelp =
  'This is likely an error with the compiler/CDK toolchain being used to build the canister.';
const toolchainErrors: ReadonlySet<ErrorCode> = new Set(['IC0505', 'IC0513']);

/** Returns the message of a canister's error, with advice if the network gives some. */
export function helpfulMessage(id: string, errorCode: ErrorCode, text: string): string {
  const message = `Error from Canister ${id}: ${text}`;
  if (toolchainErrors.has(errorCode)) return `${message}.\n${toolchainHelp}`;
  const help = helps[errorCode];
  if (help === undefined) return message;
  const [advice, section] = help;
  return `${message}.\n${advice} See documentation: ${documentation}#${section}`;
}

/** Returns the advice of a refused management call, which begins a line of its own. */
export function refusalHelp(advice: string, section: string): string {
  return `\n${advice} See documentation: ${documentation}#${section}`;
}
