// The Candid types of the management methods for snapshots, and their TypeScript types. IC spec,
// "IC method take_canister_snapshot" and the following ones.

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';

type Opt<T> = [] | [T];

const blob = IDL.Vec(IDL.Nat8);
const canisterOnly = { canister_id: IDL.Principal };
const ofSnapshot = { ...canisterOnly, snapshot_id: blob };
const senderVersion = { sender_canister_version: IDL.Opt(IDL.Nat64) };

const snapshot = IDL.Record({
  id: blob,
  taken_at_timestamp: IDL.Nat64,
  total_size: IDL.Nat64,
});

const metadata = {
  wasm_module_size: IDL.Nat64,
  globals: IDL.Vec(
    IDL.Variant({
      i32: IDL.Int32,
      i64: IDL.Int64,
      f32: IDL.Float32,
      f64: IDL.Float64,
      v128: IDL.Nat,
    }),
  ),
  wasm_memory_size: IDL.Nat64,
  stable_memory_size: IDL.Nat64,
  certified_data: blob,
  global_timer: IDL.Opt(IDL.Variant({ inactive: IDL.Null, active: IDL.Nat64 })),
  on_low_wasm_memory_hook_status: IDL.Opt(
    IDL.Variant({ condition_not_satisfied: IDL.Null, ready: IDL.Null, executed: IDL.Null }),
  ),
};

const span = IDL.Record({ offset: IDL.Nat64, size: IDL.Nat64 });
const start = IDL.Record({ offset: IDL.Nat64 });

export const snapshotTypes = {
  take_canister_snapshot: {
    argument: [
      IDL.Record({
        ...canisterOnly,
        replace_snapshot: IDL.Opt(blob),
        uninstall_code: IDL.Opt(IDL.Bool),
        ...senderVersion,
      }),
    ],
    result: [snapshot],
  },
  load_canister_snapshot: {
    argument: [IDL.Record({ ...ofSnapshot, ...senderVersion })],
    result: [],
  },
  list_canister_snapshots: { argument: [IDL.Record(canisterOnly)], result: [IDL.Vec(snapshot)] },
  delete_canister_snapshot: { argument: [IDL.Record(ofSnapshot)], result: [] },
  read_canister_snapshot_metadata: {
    argument: [IDL.Record(ofSnapshot)],
    result: [
      IDL.Record({
        ...metadata,
        source: IDL.Variant({ taken_from_canister: IDL.Reserved, metadata_upload: IDL.Reserved }),
        taken_at_timestamp: IDL.Nat64,
        wasm_chunk_store: IDL.Vec(IDL.Record({ hash: blob })),
        canister_version: IDL.Nat64,
      }),
    ],
  },
  read_canister_snapshot_data: {
    argument: [
      IDL.Record({
        ...ofSnapshot,
        kind: IDL.Variant({
          wasm_module: span,
          wasm_memory: span,
          stable_memory: span,
          wasm_chunk: IDL.Record({ hash: blob }),
        }),
      }),
    ],
    result: [IDL.Record({ chunk: blob })],
  },
  upload_canister_snapshot_metadata: {
    argument: [IDL.Record({ ...canisterOnly, ...metadata, replace_snapshot: IDL.Opt(blob) })],
    result: [IDL.Record({ snapshot_id: blob })],
  },
  upload_canister_snapshot_data: {
    argument: [
      IDL.Record({
        ...ofSnapshot,
        kind: IDL.Variant({
          wasm_module: start,
          wasm_memory: start,
          stable_memory: start,
          wasm_chunk: IDL.Null,
        }),
        chunk: blob,
      }),
    ],
    result: [],
  },
};

interface CanisterArgument {
  readonly canister_id: Principal;
}

interface SnapshotArgument extends CanisterArgument {
  readonly snapshot_id: Uint8Array;
}

interface WithCallerVersion {
  readonly sender_canister_version: Opt<bigint>;
}

interface Span {
  readonly offset: bigint;
  readonly size: bigint;
}

interface Start {
  readonly offset: bigint;
}

export type GlobalValue =
  | { readonly i32: number }
  | { readonly i64: bigint }
  | { readonly f32: number }
  | { readonly f64: number }
  | { readonly v128: bigint };

export interface MetadataArgument {
  readonly wasm_module_size: bigint;
  readonly globals: readonly GlobalValue[];
  readonly wasm_memory_size: bigint;
  readonly stable_memory_size: bigint;
  readonly certified_data: Uint8Array;
  readonly global_timer: Opt<{ readonly inactive: null } | { readonly active: bigint }>;
  readonly on_low_wasm_memory_hook_status: Opt<
    | { readonly condition_not_satisfied: null }
    | { readonly ready: null }
    | { readonly executed: null }
  >;
}

export interface SnapshotArguments {
  readonly take_canister_snapshot: CanisterArgument &
    WithCallerVersion & {
      readonly replace_snapshot: Opt<Uint8Array>;
      readonly uninstall_code: Opt<boolean>;
    };
  readonly load_canister_snapshot: SnapshotArgument & WithCallerVersion;
  readonly list_canister_snapshots: CanisterArgument;
  readonly delete_canister_snapshot: SnapshotArgument;
  readonly read_canister_snapshot_metadata: SnapshotArgument;
  readonly read_canister_snapshot_data: SnapshotArgument & {
    readonly kind:
      | { readonly wasm_module: Span }
      | { readonly wasm_memory: Span }
      | { readonly stable_memory: Span }
      | { readonly wasm_chunk: { readonly hash: Uint8Array } };
  };
  readonly upload_canister_snapshot_metadata: CanisterArgument &
    MetadataArgument & { readonly replace_snapshot: Opt<Uint8Array> };
  readonly upload_canister_snapshot_data: SnapshotArgument & {
    readonly kind:
      | { readonly wasm_module: Start }
      | { readonly wasm_memory: Start }
      | { readonly stable_memory: Start }
      | { readonly wasm_chunk: null };
    readonly chunk: Uint8Array;
  };
}
