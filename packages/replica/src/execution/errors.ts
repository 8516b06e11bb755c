// The failures of a message in the network's form. IC spec, "Reject codes" and "Error codes".

import type { Reject } from '../core.ts';
import type { ErrorCode, RejectCodeOf, TrapCode } from './error-codes.ts';
import { helpfulMessage, refusalHelp, type ViolationHelp } from './error-help.ts';
import type { Limits } from './limits.ts';

export function reject<Code extends ErrorCode>(
  code: RejectCodeOf<Code>,
  errorCode: Code,
  message: string,
): Reject {
  return { status: 'rejected', code, message, errorCode };
}

/** A trap of a canister, caught where the entry point was called. */
export class CanisterTrap extends Error {
  override readonly name = 'CanisterTrap';
  readonly errorCode: TrapCode;
  readonly logText: string;
  readonly violation?: ViolationHelp;

  constructor(
    errorCode: TrapCode,
    message: string,
    more: { readonly logText?: string; readonly violation?: ViolationHelp } = {},
  ) {
    super(message);
    this.errorCode = errorCode;
    this.logText = more.logText ?? message;
    if (more.violation !== undefined) this.violation = more.violation;
  }
}

export function trapped(message: string): CanisterTrap {
  return new CanisterTrap('IC0502', `Canister trapped: ${message}`, { logText: message });
}

export function calledTrap(message: string): CanisterTrap {
  const text = `Canister called \`ic0.trap\` with message: '${message}'`;
  return new CanisterTrap('IC0503', text, { logText: message || '(no message)' });
}

/** Without `violation`, the advice is that of an error of the toolchain. */
export function contractViolation(message: string, violation?: ViolationHelp): CanisterTrap {
  const more = violation && { violation };
  return new CanisterTrap('IC0504', `Canister violated contract: ${message}`, more);
}

/** An error of the System API that the network reports without calling it a violation. */
export function systemApiError(message: string, violation?: ViolationHelp): CanisterTrap {
  return new CanisterTrap('IC0504', message, violation && { violation });
}

export const invalidPrincipal = () => systemApiError('Canister provided invalid principal id');

export const signatureMismatch = () =>
  contractViolation('function invocation does not match its signature');

export function functionNotFound(index: number): CanisterTrap {
  return new CanisterTrap(
    'IC0513',
    `Canister requested to invoke a non-existent Wasm function ${index} from table 0`,
  );
}

export function instructionsExceeded(limit: bigint): CanisterTrap {
  return new CanisterTrap(
    'IC0522',
    `Canister exceeded the limit of ${limit} instructions for single message execution.`,
  );
}

export function memoryLimitExceeded(limit: bigint): CanisterTrap {
  return new CanisterTrap(
    'IC0539',
    `Canister exceeded its current Wasm memory limit of ${limit} bytes. The peak Wasm memory ` +
      'usage is larger than that; raise `wasm_memory_limit` or use less memory.',
  );
}

function stableLimitExceeded(what: string, limits: string): CanisterTrap {
  return new CanisterTrap(
    'IC0524',
    `Canister exceeded memory access limits: Exceeded the limit for the number of ${what}: ` +
      `limit ${limits}.`,
  );
}

type StableLimits = Pick<
  Limits,
  'updateStableBytesMax' | 'queryStableBytesMax' | 'installStableBytesMax'
>;

const kilobytes = (bytes: number) => `${bytes / 1024} KB`;

export function stableChangesExceeded(limits: StableLimits): CanisterTrap {
  return stableLimitExceeded(
    'modified pages in the stable memory in a single execution',
    `${kilobytes(limits.updateStableBytesMax)} for regular messages, ` +
      `${kilobytes(limits.installStableBytesMax)} for upgrade messages and ` +
      `${kilobytes(limits.queryStableBytesMax)} for queries`,
  );
}

export function stableAccessExceeded(limits: StableLimits): CanisterTrap {
  return stableLimitExceeded(
    'accessed pages in the stable memory in a single message execution',
    `${kilobytes(limits.updateStableBytesMax)} for regular messages and ` +
      `${kilobytes(limits.queryStableBytesMax)} for queries`,
  );
}

export function rejectOfTrap(canisterId: string, trap: CanisterTrap): Reject {
  const { errorCode: code, message: text, violation } = trap;
  const message = helpfulMessage(canisterId, { code, text, ...(violation && { violation }) });
  return reject(5, code, message);
}

export const canisterNotFound = (id: string) => reject(3, 'IC0301', `Canister ${id} not found`);

export function noModule(id: string): Reject {
  const text = 'Attempted to execute a message, but the canister contains no Wasm module.';
  return reject(5, 'IC0537', helpfulMessage(id, { code: 'IC0537', text }));
}

/** For ingress, before its execution: `dfinity/ic` rs/execution_environment, inspect_message.rs. */
export const noModuleForIngress = () =>
  reject(5, 'IC0537', 'Requested canister has no wasm module');

export function noMethod(id: string, kind: string, method: string): Reject {
  const text = `Canister has no ${kind} method '${method}'.`;
  return reject(5, 'IC0536', helpfulMessage(id, { code: 'IC0536', text }));
}

export const canisterStopped = (id: string) => reject(5, 'IC0508', `Canister ${id} is stopped`);

/** `dfinity/ic` rs/execution_environment/src/query_handler/query_context.rs. */
export const stoppedForQueries = (id: string) =>
  reject(5, 'IC0508', `Canister ${id} is stopped and therefore does not have a CallContextManager`);

export const canisterStopping = (id: string) => reject(5, 'IC0509', `Canister ${id} is stopping`);

export const canisterNotStopped = (id: string) =>
  reject(
    5,
    'IC0510',
    `Canister ${id} must be stopped before it is deleted.` +
      refusalHelp('Stop the canister before deleting it.', 'delete-canister-not-stopped'),
  );

export const inspectRejected = (id: string) =>
  reject(4, 'IC0406', `Canister ${id} rejected the message`);

export const didNotReply = (id: string) =>
  reject(5, 'IC0506', `Canister ${id} did not reply to the call`);

/** Only controllers see the number of missing cycles. */
export function outOfCycles(id: string, missing: bigint, isController: boolean): Reject {
  const topUp = `: please top up the canister with at least ${missing} additional cycles`;
  return reject(2, 'IC0207', `Canister ${id} is out of cycles${isController ? topUp : ''}`);
}

export const tooFewCyclesAttached = (id: string, attached: bigint, least: bigint) =>
  reject(
    5,
    'IC0520',
    `Canister ${id} accepts calls of other canisters only with at least ${least} cycles; ` +
      `${attached} are attached.`,
  );

export function growthTooDear(bytes: bigint, missing: bigint): CanisterTrap {
  return new CanisterTrap(
    'IC0532',
    `Canister cannot grow memory by ${bytes} bytes due to insufficient cycles. ` +
      `At least ${missing} additional cycles are required.`,
  );
}

export function reservationTooLarge(
  bytes: bigint,
  cycles: { readonly total: bigint; readonly limit: bigint },
): CanisterTrap {
  const { total, limit } = cycles;
  return new CanisterTrap(
    'IC0534',
    `Canister cannot grow memory by ${bytes} bytes due to its reserved cycles limit. ` +
      `The current limit (${limit}) would be exceeded by ${total - limit}.`,
  );
}

export function allocationTooDear(what: 'compute' | 'memory', missing: bigint): Reject {
  const code = what === 'compute' ? 'IC0530' : 'IC0531';
  return reject(
    5,
    code,
    `Cannot increase ${what} allocation due to insufficient cycles. ` +
      `At least ${missing} additional cycles are required.`,
  );
}

export const installationTooDear = (id: string, missing: bigint) =>
  reject(
    2,
    'IC0207',
    `Canister installation failed with \`Canister ${id} is out of cycles: please top up the ` +
      `canister with at least ${missing} additional cycles\`.` +
      refusalHelp('Top up the canister with more cycles.', 'install-code-not-enough-cycles'),
  );

export const snapshotTooDear = (id: string, missing: bigint) =>
  reject(
    2,
    'IC0207',
    `Canister snapshotting failed with: \`Canister ${id} is out of cycles: please top up the ` +
      `canister with at least ${missing} additional cycles\`` +
      refusalHelp(
        'Try sending more cycles with the request.',
        'canister-snapshot-not-enough-cycles',
      ),
  );

export const frozen = (id: string) =>
  reject(
    2,
    'IC0207',
    `Canister ${id} is unable to process query calls because it's frozen. Please top up the ` +
      'canister with cycles and try again.',
  );

export function invalidModule(id: string, why: string): Reject {
  const text = `Canister's Wasm module is not valid: ${why}`;
  return reject(5, 'IC0505', helpfulMessage(id, { code: 'IC0505', text }));
}

export const engineRefused = (id: string, why: string) =>
  reject(5, 'IC0521', `Error from Canister ${id}: ${why}`);

export const upgradeRefused = (why: string) => reject(5, 'IC0504', why);

export const notEmpty = (id: string) =>
  reject(
    5,
    'IC0514',
    `Canister ${id} cannot be installed because the canister is not empty. Try installing with ` +
      "mode='reinstall' instead." +
      refusalHelp(
        "Check that you want to overwrite the canister and, if so, use mode='reinstall'.",
        'canister-not-empty',
      ),
  );

export const stopTimeout = (id: string) =>
  reject(2, 'IC0206', `Stop canister request timed out: canister ${id} has open call contexts`);

export const stopCancelled = (id: string) =>
  reject(5, 'IC0511', `Canister ${id}'s stop request was cancelled`);

/** `dfinity/ic` rs/messaging/src/routing/stream_builder.rs, which gives no error code. */
export const boundaryRefused = (): Reject => ({
  status: 'rejected',
  code: 1,
  errorCode: '',
  message: 'Unbounded-wait calls and calls with cycles are not allowed to CloudEngine subnets',
});

export const callExpired = () => reject(6, 'IC0601', 'Call deadline has expired.');

export const callLost = () =>
  reject(6, 'IC0602', 'The replica was restarted before the call was answered.');

export const callNotBegun = () =>
  reject(2, 'IC0203', 'The replica was restarted before the call was executed.');

export const snapshotNotFound = (canisterId: string, snapshotId: Uint8Array) =>
  reject(
    3,
    'IC0305',
    `Could not find the snapshot ID ${Buffer.from(snapshotId).toString('hex')} for canister ` +
      `${canisterId}`,
  );

export const snapshotRefused = (why: string) => reject(4, 'IC0408', why);

export const uninstalled = () => reject(4, 'IC0406', 'Canister has been uninstalled.');

/** An error of the replica itself, which the network does not have. */
export const storageFailed = (why: string): Reject => ({
  status: 'rejected',
  code: 2,
  errorCode: 'IC0104',
  message: `The replica could not store the outcome of the message: ${why}`,
});

export const callDepthExceeded = () =>
  reject(5, 'IC0525', 'Composite query call exceeded the maximum depth of the call graph.');

export const callGraphInstructionsExceeded = () =>
  reject(5, 'IC0526', 'The calls of the composite query exceeded their total instruction limit.');

export const compositeInReplicatedMode = () =>
  reject(5, 'IC0527', 'Composite query cannot be called in replicated mode');
