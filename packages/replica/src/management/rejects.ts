// The rejects of the management canister: code, the network's error code, and message.

import type { Principal } from '@dfinity/principal';
import type { Reject, RejectCode } from '../core.ts';
import type { ErrorCode, RejectCodeOf } from '../execution/error-codes.ts';

function reject<Code extends ErrorCode>(
  code: RejectCodeOf<Code>,
  what: { readonly errorCode: Code; readonly message: string },
): Reject {
  return { status: 'rejected', code, message: what.message, errorCode: what.errorCode };
}

export function isReject(value: object): value is Reject {
  return 'status' in value && value.status === 'rejected';
}

export function canisterNotFound(id: Principal): Reject {
  return reject(3, { errorCode: 'IC0301', message: `Canister ${id.toText()} not found` });
}

export function unknownMethod(method: string): Reject {
  const message = `Management canister has no method '${method}'`;
  return reject(5, { errorCode: 'IC0536', message });
}

/** The words for ingress: `dfinity/ic` ingress_messages.rs, ParseIngressError. */
export function unknownIngressMethod(method: string): Reject {
  const message = `ic00 interface does not expose method ${method}`;
  return reject(5, { errorCode: 'IC0536', message });
}

export function absentMethod(method: string): Reject {
  const message = `The local replica does not offer ic00 method ${method}`;
  return reject(4, { errorCode: 'IC0406', message });
}

/** `dfinity/ic` rs/types/types/src/messages/ingress_messages.rs, ParseIngressError. */
export function notByIngress(method: string): Reject {
  const message = `ic00 method ${method} can not be called via ingress messages`;
  return reject(4, { errorCode: 'IC0406', message });
}

export function queryOnly(method: string): Reject {
  const message = `ic00 method ${method} can be called only as a query`;
  return reject(4, { errorCode: 'IC0406', message });
}

export function noQuery(method: string): Reject {
  const message = `Query method ${method} not found on the management canister`;
  return reject(5, { errorCode: 'IC0536', message });
}

/** `dfinity/ic` `rs/execution_environment/src/query_handler.rs`: CanisterRejectedMessage. */
export function logsHidden(caller: Principal): Reject {
  const message = `Caller ${caller.toText()} is not allowed to access canister logs`;
  return reject(4, { errorCode: 'IC0406', message });
}

export function noMetadata(id: Principal, name: string): Reject {
  const message = `Canister ${id.toText()} has no metadata section '${name}' that the caller may read`;
  return reject(4, { errorCode: 'IC0406', message });
}

/** `rs/types/error_types/src/lib.rs`, CanisterSnapshotImmutable. */
export function immutableSnapshot(id: Uint8Array): Reject {
  const message =
    `Snapshot ${Buffer.from(id).toString('hex')} was taken from a canister: only one that was ` +
    'created by uploading metadata accepts data';
  return reject(4, { errorCode: 'IC0409', message });
}

export function malformedArgument(method: string, reason: string): Reject {
  const message = `Failed to parse payload for ic00 method ${method}: ${reason}`;
  return reject(4, { errorCode: 'IC0408', message });
}

/** Rejects a setting that the network's decoder would not accept. */
export function malformedSettings(message: string): Reject {
  return reject(4, { errorCode: 'IC0408', message: `Invalid canister settings: ${message}` });
}

export function notController(id: Principal, method: string): Reject {
  const message = `Only controllers of canister ${id.toText()} can call ic00 method ${method}`;
  return reject(5, { errorCode: 'IC0512', message });
}

/** Rejects a call that is well-formed and allowed, but impossible. */
export function refused(message: string): Reject {
  return reject(4, { errorCode: 'IC0406', message });
}

/** Rejects a failed operation, for which the network has no error code. */
export function failed(code: RejectCode, message: string): Reject {
  return { status: 'rejected', code, message, errorCode: '' };
}

/** Rejects a call that breaks a rule of the interface. */
export function contractViolation(message: string): Reject {
  return reject(5, { errorCode: 'IC0504', message });
}

export function creationFeeMissing(fee: bigint, received: bigint): Reject {
  const message =
    `Creating a canister requires a fee of ${fee} that is deducted from the canister's initial ` +
    `balance but only ${received} cycles were received with the create_canister request.`;
  return reject(4, { errorCode: 'IC0403', message });
}

/** The network has no such method, and thus no words for it. */
export function withoutBalance(id: Principal): Reject {
  return refused(
    `Canister ${id.toText()} cannot be topped up: canisters of a cloud engine hold no cycles and ` +
      'need none',
  );
}

/** `scheme` in the network's form, such as `vetkd:Bls12_381_G2`. */
export function unknownKey(scheme: string, name: string, known: readonly string[]): Reject {
  const keys = known.map((key) => `${scheme}:${key}`).join(', ');
  const message =
    `Requested unknown or disabled threshold key: ${scheme}:${name}, ` +
    `existing enabled keys: [${keys}]`;
  return reject(3, { errorCode: 'IC0301', message });
}
