// The callers allowed for each method of the management canister, as ingress and from a canister.
// IC spec, "The IC management canister" (each method's first lines) and "Request: Call".

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import type { Lifecycle, ManagementCall, Reject } from '../core.ts';
import type { Visibility } from '../settings.ts';
import { decodeGuarded } from './candid-guard.ts';
import { isMethodName, type MethodName } from './candid-types.ts';
import {
  absentMethod,
  canisterNotFound,
  logsHidden,
  malformedArgument,
  noQuery,
  notByIngress,
  notController,
  queryOnly,
  unknownMethod,
} from './rejects.ts';

type Callers =
  | 'anyone'
  | 'controllers'
  | 'controllers and the canister itself'
  | 'who may see its logs'
  | 'who may see its status'
  | 'who may see its snapshots';

interface Rule {
  readonly callers: Callers;
  /** Whether ingress may call it. */
  readonly ingress: boolean;
  /** Whether it is also, or only, a query; absent: only an update. */
  readonly queries?: 'too' | 'only';
  /** The field with the id of the canister that the call concerns. */
  readonly target?: 'canister_id' | 'target_canister';
}

const byController = { callers: 'controllers', ingress: true, target: 'canister_id' } as const;
const byControllerOrSelf = {
  callers: 'controllers and the canister itself',
  ingress: true,
  target: 'canister_id',
} as const;
const bySnapshotViewer = {
  callers: 'who may see its snapshots',
  ingress: true,
  target: 'canister_id',
} as const;
const canisterOnly = { callers: 'anyone', ingress: false } as const;

const rules: Readonly<Record<MethodName, Rule>> = {
  create_canister: canisterOnly,
  provisional_create_canister_with_cycles: { callers: 'anyone', ingress: true },
  provisional_top_up_canister: { callers: 'anyone', ingress: true, target: 'canister_id' },
  update_settings: byController,
  install_code: byController,
  install_chunked_code: { callers: 'controllers', ingress: true, target: 'target_canister' },
  upload_chunk: byControllerOrSelf,
  stored_chunks: byControllerOrSelf,
  clear_chunk_store: byControllerOrSelf,
  canister_status: { ...byControllerOrSelf, callers: 'who may see its status', queries: 'too' },
  canister_info: { callers: 'anyone', ingress: false, target: 'canister_id' },
  canister_metadata: { callers: 'anyone', ingress: false, target: 'canister_id' },
  fetch_canister_logs: {
    callers: 'who may see its logs',
    ingress: true,
    queries: 'only',
    target: 'canister_id',
  },
  start_canister: byController,
  stop_canister: byController,
  delete_canister: byController,
  uninstall_code: byController,
  deposit_cycles: { callers: 'anyone', ingress: false, target: 'canister_id' },
  take_canister_snapshot: byController,
  load_canister_snapshot: byController,
  list_canister_snapshots: bySnapshotViewer,
  delete_canister_snapshot: byController,
  read_canister_snapshot_metadata: bySnapshotViewer,
  read_canister_snapshot_data: bySnapshotViewer,
  upload_canister_snapshot_metadata: byController,
  upload_canister_snapshot_data: byController,
  raw_rand: canisterOnly,
  vetkd_public_key: canisterOnly,
  vetkd_derive_key: canisterOnly,
  http_request: canisterOnly,
  ecdsa_public_key: canisterOnly,
  sign_with_ecdsa: canisterOnly,
  schnorr_public_key: canisterOnly,
  sign_with_schnorr: canisterOnly,
};

/** Methods of the interface that this replica does not offer. */
const absentMethods = new Set([
  ...['node_metrics_history', 'subnet_info', 'canister_metrics'],
  ...['bitcoin_get_balance', 'bitcoin_get_utxos', 'rename_canister', 'list_canisters'],
  ...['bitcoin_send_transaction', 'bitcoin_get_current_fee_percentiles'],
  ...['bitcoin_get_block_headers'],
]);

/** Returns the method's name, or the reject of an unknown or unsupported one. */
export function findMethod(method: string): MethodName | Reject {
  if (isMethodName(method)) return method;
  return absentMethods.has(method) ? absentMethod(method) : unknownMethod(method);
}

/**
 * Returns the canister that the URL of an ingress call to the management canister must name;
 * `undefined` if the URL may name any canister, or if the argument names none. IC spec, "Effective
 * canister id".
 */
export function effectiveCanisterId(method: string, arg: Uint8Array): Principal | undefined {
  const target = isMethodName(method) ? rules[method].target : undefined;
  if (target === undefined) return undefined;
  try {
    const decoded = decodeGuarded([IDL.Record({ [target]: IDL.Principal })], arg);
    return (decoded as Readonly<Record<string, Principal>>)[target];
  } catch {
    return undefined;
  }
}

/** Returns `undefined` if the caller is allowed. The argument may still be malformed. */
export function checkAccess(
  method: MethodName,
  parts: {
    readonly call: Pick<ManagementCall, 'caller' | 'arg' | 'fromCanister' | 'isQuery'>;
    readonly lifecycle: Pick<Lifecycle, 'canister' | 'settings'>;
  },
): Reject | undefined {
  const { call, lifecycle } = parts;
  const rule = rules[method];
  if (call.isQuery && rule.queries === undefined) return noQuery(method);
  if (!call.isQuery && rule.queries === 'only') {
    return call.fromCanister ? queryOnly(method) : notByIngress(method);
  }
  if (!call.fromCanister && !rule.ingress) return notByIngress(method);
  if (rule.target === undefined) return undefined;
  const id = effectiveCanisterId(method, call.arg);
  if (id === undefined)
    return malformedArgument(method, `no principal in its field ${rule.target}`);
  const canister = lifecycle.canister(id);
  if (canister === undefined) return canisterNotFound(id);
  if (rule.callers === 'anyone') return undefined;
  if (canister.controllers.some((one) => isSame(one, call.caller))) return undefined;
  const settings = lifecycle.settings(id);
  const isItself = isSame(id, call.caller);
  switch (rule.callers) {
    case 'controllers':
      return notController(id, method);
    case 'controllers and the canister itself':
      return isItself ? undefined : notController(id, method);
    case 'who may see its status':
      if (isItself || isVisible(settings?.statusVisibility, call.caller)) return undefined;
      return notController(id, method);
    case 'who may see its snapshots':
      if (isVisible(settings?.snapshotVisibility, call.caller)) return undefined;
      return notController(id, method);
    case 'who may see its logs':
      if (isVisible(settings?.logVisibility, call.caller)) return undefined;
      return logsHidden(call.caller);
  }
}

function isVisible(visibility: Visibility | undefined, caller: Principal): boolean {
  if (visibility === undefined || typeof visibility === 'string') return visibility === 'public';
  return visibility.viewers.some((one) => isSame(one, caller));
}

export function isSame(left: Principal, right: Principal): boolean {
  return left.compareTo(right) === 'eq';
}
