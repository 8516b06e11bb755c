// The newest changes of a canister's code and controllers, stored as one value. IC spec,
// "canister_info".
//
//   history of ID   CBOR [total, changes]; principals as bytes

import { createHash } from 'node:crypto';
import { Principal } from '@dfinity/principal';
import { decode, encode } from 'cborg';
import type {
  CanisterChange,
  CanisterHistory,
  ChangeDetails,
  ChangeOrigin,
  StateStore,
  ValueChange,
} from '../core.ts';

/** IC spec: 20 are guaranteed to remain; `dfinity/ic` `rs/replicated_state/src/canister_state/`
 * `system_state.rs`, MAX_CANISTER_HISTORY_CHANGES. */
const changesMax = 20;

/** The origin of changes without a particular author. */
export const anonymousOrigin: ChangeOrigin = {
  caller: Principal.anonymous(),
  isCanister: false,
};

type Stored = readonly [total: bigint | number, changes: readonly StoredChange[]];

interface StoredChange {
  readonly timestamp: bigint | number;
  readonly canisterVersion: bigint | number;
  readonly caller: Uint8Array;
  readonly isCanister: boolean;
  readonly callerVersion: bigint | number | null;
  readonly details: StoredDetails;
}

type StoredDetails =
  | readonly ['creation', readonly Uint8Array[], Uint8Array | null]
  | readonly ['uninstall']
  | readonly ['deployment', 'install' | 'reinstall' | 'upgrade', Uint8Array]
  | readonly ['controllers', readonly Uint8Array[]]
  | readonly [
      'snapshot',
      from: Uint8Array | null,
      snapshotId: Uint8Array,
      canisterVersion: bigint | number,
      takenAt: bigint | number,
      source: 'canister' | 'upload',
    ];

const historyName = (idText: string) => `history of ${idText}`;

export function readHistory(store: StateStore, idText: string): CanisterHistory {
  const stored = store.getValue(historyName(idText));
  if (stored === undefined) return { total: 0n, changes: [] };
  const [total, changes] = decode(stored) as Stored;
  return { total: BigInt(total), changes: changes.map(readChange) };
}

export function historyWith(
  store: StateStore,
  idText: string,
  change: CanisterChange,
): ValueChange {
  const { total, changes } = readHistory(store, idText);
  const kept = [...changes, change].slice(-changesMax);
  const stored: Stored = [total + 1n, kept.map(storeChange)];
  return [historyName(idText), encode(stored)];
}

export function removeHistory(idText: string): ValueChange {
  return [historyName(idText), undefined];
}

/** IC spec, "Hash of map"; `undefined` without variables. */
export function hashEnvironment(variables: ReadonlyMap<string, string>): Uint8Array | undefined {
  if (variables.size === 0) return undefined;
  const hash = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest();
  const pairs = [...variables].map(([name, value]) => Buffer.concat([hash(name), hash(value)]));
  return new Uint8Array(hash(Buffer.concat(pairs.sort(Buffer.compare))));
}

function storeChange(change: CanisterChange): StoredChange {
  const { timestamp, canisterVersion, origin, details } = change;
  return {
    timestamp,
    canisterVersion,
    caller: origin.caller.toUint8Array(),
    isCanister: origin.isCanister,
    callerVersion: origin.canisterVersion ?? null,
    details: storeDetails(details),
  };
}

function storeDetails(details: ChangeDetails): StoredDetails {
  switch (details.kind) {
    case 'creation':
      return ['creation', details.controllers.map(toBytes), details.environmentHash ?? null];
    case 'uninstall':
      return ['uninstall'];
    case 'deployment':
      return ['deployment', details.mode, details.moduleHash];
    case 'controllers':
      return ['controllers', details.controllers.map(toBytes)];
    case 'snapshot': {
      const { from, snapshotId, canisterVersion, takenAt, source } = details;
      return [
        'snapshot',
        from ? toBytes(from) : null,
        snapshotId,
        canisterVersion,
        takenAt,
        source,
      ];
    }
  }
}

function readChange(stored: StoredChange): CanisterChange {
  const { callerVersion } = stored;
  return {
    timestamp: BigInt(stored.timestamp),
    canisterVersion: BigInt(stored.canisterVersion),
    origin: {
      caller: Principal.fromUint8Array(stored.caller),
      isCanister: stored.isCanister,
      canisterVersion: callerVersion === null ? undefined : BigInt(callerVersion),
    },
    details: readDetails(stored.details),
  };
}

function readDetails(stored: StoredDetails): ChangeDetails {
  switch (stored[0]) {
    case 'creation':
      return {
        kind: 'creation',
        controllers: stored[1].map(toPrincipal),
        environmentHash: stored[2] ?? undefined,
      };
    case 'uninstall':
      return { kind: 'uninstall' };
    case 'deployment':
      return { kind: 'deployment', mode: stored[1], moduleHash: stored[2] };
    case 'controllers':
      return { kind: 'controllers', controllers: stored[1].map(toPrincipal) };
    case 'snapshot':
      return {
        kind: 'snapshot',
        from: stored[1] === null ? undefined : toPrincipal(stored[1]),
        snapshotId: stored[2],
        canisterVersion: BigInt(stored[3]),
        takenAt: BigInt(stored[4]),
        source: stored[5],
      };
  }
}

const toBytes = (principal: Principal) => principal.toUint8Array();
const toPrincipal = (bytes: Uint8Array) => Principal.fromUint8Array(bytes);
