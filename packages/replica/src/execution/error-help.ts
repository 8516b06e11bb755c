// The advice with which the network ends the errors of canisters. `dfinity/ic`
// rs/interfaces/src/execution_environment/errors.rs, AsErrorHelp.

import type { ErrorCode } from './error-codes.ts';

const documentation = 'https://internetcomputer.org/docs/current/references/execution-errors';

const gracefully =
  'Consider gracefully handling failures from this canister or altering the canister to handle ' +
  'exceptions.';

/** An advice, and the section of the documentation about it. */
type Help = readonly [advice: string, section: string];

const helps: Partial<Record<ErrorCode, Help>> = {
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
const toolchainErrors: ReadonlySet<ErrorCode> = new Set(['IC0504', 'IC0505', 'IC0513']);

/** Violations of the System API (IC0504) that are the developer's fault, not the toolchain's. */
const violationHelps = {
  mode: [
    'Check the ICP documentation to make sure APIs are being called in the correct message types.',
    'calling-a-system-api-from-the-wrong-mode',
  ],
  reply: [
    'Consider checking the response size and returning an error if it is too long.',
    'msg_reply_data_append-payload-too-large',
  ],
  reject: ['Try truncating the error messages that are too long.', 'msg_reject-payload-too-large'],
  certifiedData: [
    'Try certifying just the hash of your data instead of the full contents.',
    'certified_data_set-payload-too-large',
  ],
  // The network has a sentence with two empty places here.
  methodName: [
    'Size of method_name {} exceeds the allowed limit of {}.',
    'canister-made-a-call-with-too-large-method-name',
  ],
  payload: [
    'Check the canister for errors or redesign the target API to allow shorter messages',
    'canister-made-a-call-with-too-large-payload',
  ],
} as const satisfies Record<string, Help>;

/** `none`: the network gives no advice. */
export type ViolationHelp = keyof typeof violationHelps | 'none';

/** Returns the message of a canister's error, with advice if the network gives some. */
export function helpfulMessage(
  id: string,
  error: { readonly code: ErrorCode; readonly text: string; readonly violation?: ViolationHelp },
): string {
  const { code, text, violation } = error;
  const message = `Error from Canister ${id}: ${text}`;
  if (violation === 'none') return message;
  const help = violation === undefined ? helps[code] : violationHelps[violation];
  if (help === undefined) {
    return toolchainErrors.has(code) ? `${message}.\n${toolchainHelp}` : message;
  }
  const [advice, section] = help;
  return `${message}.\n${advice} See documentation: ${documentation}#${section}`;
}

/** Returns the advice of a refused management call, which begins a line of its own. */
export function refusalHelp(advice: string, section: string): string {
  return `\n${advice} See documentation: ${documentation}#${section}`;
}
