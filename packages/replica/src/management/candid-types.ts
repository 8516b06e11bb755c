// The Candid types of the management canister's methods that this replica supports, and their
// TypeScript types. IC spec, "The IC management canister".

import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import { decodeGuarded } from './candid-guard.ts';
import type { Opt } from './opt.ts';
import { type OutcallArguments, outcallTypes } from './outcall-types.ts';
import { type SigningArguments, signingTypes } from './signing-types.ts';
import { type SnapshotArguments, snapshotTypes } from './snapshot-types.ts';

export type { Opt };

const blob = IDL.Vec(IDL.Nat8);
const canisterOnly = { canister_id: IDL.Principal };
const senderVersion = { sender_canister_version: IDL.Opt(IDL.Nat64) };

const visibility = IDL.Variant({
  controllers: IDL.Null,
  public: IDL.Null,
  allowed_viewers: IDL.Vec(IDL.Principal),
});
const environmentVariables = IDL.Vec(IDL.Record({ name: IDL.Text, value: IDL.Text }));

export const canisterSettings = IDL.Record({
  controllers: IDL.Opt(IDL.Vec(IDL.Principal)),
  compute_allocation: IDL.Opt(IDL.Nat),
  memory_allocation: IDL.Opt(IDL.Nat),
  freezing_threshold: IDL.Opt(IDL.Nat),
  reserved_cycles_limit: IDL.Opt(IDL.Nat),
  log_visibility: IDL.Opt(visibility),
  log_memory_limit: IDL.Opt(IDL.Nat),
  snapshot_visibility: IDL.Opt(visibility),
  status_visibility: IDL.Opt(visibility),
  minimum_incoming_canister_call_cycles: IDL.Opt(IDL.Nat),
  wasm_memory_limit: IDL.Opt(IDL.Nat),
  wasm_memory_threshold: IDL.Opt(IDL.Nat),
  environment_variables: IDL.Opt(environmentVariables),
});

const definiteCanisterSettings = IDL.Record({
  controllers: IDL.Vec(IDL.Principal),
  compute_allocation: IDL.Nat,
  memory_allocation: IDL.Nat,
  freezing_threshold: IDL.Nat,
  reserved_cycles_limit: IDL.Nat,
  log_visibility: visibility,
  log_memory_limit: IDL.Nat,
  snapshot_visibility: visibility,
  status_visibility: visibility,
  minimum_incoming_canister_call_cycles: IDL.Nat,
  wasm_memory_limit: IDL.Nat,
  wasm_memory_threshold: IDL.Nat,
  environment_variables: environmentVariables,
});

const installMode = IDL.Variant({
  install: IDL.Null,
  reinstall: IDL.Null,
  upgrade: IDL.Opt(
    IDL.Record({
      skip_pre_upgrade: IDL.Opt(IDL.Bool),
      wasm_memory_persistence: IDL.Opt(IDL.Variant({ keep: IDL.Null, replace: IDL.Null })),
    }),
  ),
});

const vetKeyId = IDL.Record({ curve: IDL.Variant({ bls12_381_g2: IDL.Null }), name: IDL.Text });
const chunkHash = IDL.Record({ hash: blob });

const canisterStatus = IDL.Record({
  status: IDL.Variant({ running: IDL.Null, stopping: IDL.Null, stopped: IDL.Null }),
  ready_for_migration: IDL.Bool,
  version: IDL.Nat64,
  settings: definiteCanisterSettings,
  module_hash: IDL.Opt(blob),
  memory_size: IDL.Nat,
  memory_metrics: IDL.Record({
    wasm_memory_size: IDL.Nat,
    stable_memory_size: IDL.Nat,
    global_memory_size: IDL.Nat,
    wasm_binary_size: IDL.Nat,
    custom_sections_size: IDL.Nat,
    canister_history_size: IDL.Nat,
    wasm_chunk_store_size: IDL.Nat,
    snapshots_size: IDL.Nat,
    log_memory_store_size: IDL.Nat,
  }),
  cycles: IDL.Nat,
  reserved_cycles: IDL.Nat,
  idle_cycles_burned_per_day: IDL.Nat,
  query_stats: IDL.Record({
    num_calls_total: IDL.Nat,
    num_instructions_total: IDL.Nat,
    request_payload_bytes_total: IDL.Nat,
    response_payload_bytes_total: IDL.Nat,
  }),
});

const snapshotSource = IDL.Variant({
  taken_from_canister: IDL.Reserved,
  metadata_upload: IDL.Reserved,
});

const range = IDL.Record({ start: IDL.Nat64, end: IDL.Nat64 });
const logRecord = IDL.Record({
  idx: IDL.Nat64,
  timestamp_nanos: IDL.Nat64,
  content: blob,
});

const canisterChange = IDL.Record({
  timestamp_nanos: IDL.Nat64,
  canister_version: IDL.Nat64,
  origin: IDL.Variant({
    from_user: IDL.Record({ user_id: IDL.Principal }),
    from_canister: IDL.Record({
      canister_id: IDL.Principal,
      canister_version: IDL.Opt(IDL.Nat64),
    }),
  }),
  details: IDL.Variant({
    creation: IDL.Record({
      controllers: IDL.Vec(IDL.Principal),
      environment_variables_hash: IDL.Opt(blob),
    }),
    code_uninstall: IDL.Null,
    code_deployment: IDL.Record({
      mode: IDL.Variant({ install: IDL.Null, reinstall: IDL.Null, upgrade: IDL.Null }),
      module_hash: blob,
    }),
    controllers_change: IDL.Record({ controllers: IDL.Vec(IDL.Principal) }),
    load_snapshot: IDL.Record({
      from_canister_id: IDL.Opt(IDL.Principal),
      snapshot_id: blob,
      canister_version: IDL.Nat64,
      taken_at_timestamp: IDL.Nat64,
      source: snapshotSource,
    }),
  }),
});

/** Argument and result type of each method; `[]`: none. */
export const methodTypes = {
  create_canister: {
    argument: [IDL.Record({ settings: IDL.Opt(canisterSettings), ...senderVersion })],
    result: [IDL.Record(canisterOnly)],
  },
  provisional_create_canister_with_cycles: {
    argument: [
      IDL.Record({
        amount: IDL.Opt(IDL.Nat),
        settings: IDL.Opt(canisterSettings),
        specified_id: IDL.Opt(IDL.Principal),
        ...senderVersion,
      }),
    ],
    result: [IDL.Record(canisterOnly)],
  },
  provisional_top_up_canister: {
    argument: [IDL.Record({ ...canisterOnly, amount: IDL.Nat })],
    result: [],
  },
  update_settings: {
    argument: [IDL.Record({ ...canisterOnly, settings: canisterSettings, ...senderVersion })],
    result: [],
  },
  install_code: {
    argument: [
      IDL.Record({
        mode: installMode,
        ...canisterOnly,
        wasm_module: blob,
        arg: blob,
        ...senderVersion,
      }),
    ],
    result: [],
  },
  install_chunked_code: {
    argument: [
      IDL.Record({
        mode: installMode,
        target_canister: IDL.Principal,
        store_canister: IDL.Opt(IDL.Principal),
        chunk_hashes_list: IDL.Vec(chunkHash),
        wasm_module_hash: blob,
        arg: blob,
        ...senderVersion,
      }),
    ],
    result: [],
  },
  upload_chunk: {
    argument: [IDL.Record({ ...canisterOnly, chunk: blob })],
    result: [chunkHash],
  },
  stored_chunks: { argument: [IDL.Record(canisterOnly)], result: [IDL.Vec(chunkHash)] },
  clear_chunk_store: { argument: [IDL.Record(canisterOnly)], result: [] },
  canister_status: { argument: [IDL.Record(canisterOnly)], result: [canisterStatus] },
  canister_info: {
    argument: [IDL.Record({ ...canisterOnly, num_requested_changes: IDL.Opt(IDL.Nat64) })],
    result: [
      IDL.Record({
        total_num_changes: IDL.Nat64,
        recent_changes: IDL.Vec(canisterChange),
        module_hash: IDL.Opt(blob),
        controllers: IDL.Vec(IDL.Principal),
      }),
    ],
  },
  canister_metadata: {
    argument: [IDL.Record({ ...canisterOnly, name: IDL.Text })],
    result: [IDL.Record({ value: blob })],
  },
  fetch_canister_logs: {
    argument: [
      IDL.Record({
        ...canisterOnly,
        filter: IDL.Opt(IDL.Variant({ by_idx: range, by_timestamp_nanos: range })),
      }),
    ],
    result: [IDL.Record({ canister_log_records: IDL.Vec(logRecord) })],
  },
  ...snapshotTypes,
  start_canister: { argument: [IDL.Record(canisterOnly)], result: [] },
  stop_canister: { argument: [IDL.Record(canisterOnly)], result: [] },
  delete_canister: { argument: [IDL.Record(canisterOnly)], result: [] },
  uninstall_code: { argument: [IDL.Record({ ...canisterOnly, ...senderVersion })], result: [] },
  deposit_cycles: { argument: [IDL.Record(canisterOnly)], result: [] },
  raw_rand: { argument: [], result: [blob] },
  vetkd_public_key: {
    argument: [
      IDL.Record({ canister_id: IDL.Opt(IDL.Principal), context: blob, key_id: vetKeyId }),
    ],
    result: [IDL.Record({ public_key: blob })],
  },
  vetkd_derive_key: {
    argument: [
      IDL.Record({ input: blob, context: blob, transport_public_key: blob, key_id: vetKeyId }),
    ],
    result: [IDL.Record({ encrypted_key: blob })],
  },
  ...signingTypes,
  ...outcallTypes,
} satisfies Record<
  string,
  { readonly argument: readonly IDL.Type[]; readonly result: readonly IDL.Type[] }
>;

export type MethodName = keyof typeof methodTypes;

export type VisibilityArgument =
  | { readonly controllers: null }
  | { readonly public: null }
  | { readonly allowed_viewers: Principal[] };

export interface SettingsArgument {
  readonly controllers: Opt<Principal[]>;
  readonly compute_allocation: Opt<bigint>;
  readonly memory_allocation: Opt<bigint>;
  readonly freezing_threshold: Opt<bigint>;
  readonly reserved_cycles_limit: Opt<bigint>;
  readonly minimum_incoming_canister_call_cycles: Opt<bigint>;
  readonly wasm_memory_limit: Opt<bigint>;
  readonly wasm_memory_threshold: Opt<bigint>;
  readonly log_memory_limit: Opt<bigint>;
  readonly log_visibility: Opt<VisibilityArgument>;
  readonly snapshot_visibility: Opt<VisibilityArgument>;
  readonly status_visibility: Opt<VisibilityArgument>;
  readonly environment_variables: Opt<{ readonly name: string; readonly value: string }[]>;
}

export type InstallModeArgument =
  | { readonly install: null }
  | { readonly reinstall: null }
  | {
      readonly upgrade: Opt<{
        readonly skip_pre_upgrade: Opt<boolean>;
        readonly wasm_memory_persistence: Opt<{ readonly keep: null } | { readonly replace: null }>;
      }>;
    };

interface Range {
  readonly start: bigint;
  /** Exclusive. */
  readonly end: bigint;
}

interface WithCallerVersion {
  readonly sender_canister_version: Opt<bigint>;
}

interface CanisterArgument {
  readonly canister_id: Principal;
}

interface InstallArgument extends WithCallerVersion {
  readonly mode: InstallModeArgument;
  readonly arg: Uint8Array;
}

/** Decoded arguments; methods without an argument get `undefined`. */
export interface Arguments extends SigningArguments, OutcallArguments, SnapshotArguments {
  readonly create_canister: WithCallerVersion & { readonly settings: Opt<SettingsArgument> };
  readonly provisional_create_canister_with_cycles: WithCallerVersion & {
    readonly amount: Opt<bigint>;
    readonly settings: Opt<SettingsArgument>;
    readonly specified_id: Opt<Principal>;
  };
  readonly provisional_top_up_canister: CanisterArgument & { readonly amount: bigint };
  readonly update_settings: CanisterArgument &
    WithCallerVersion & { readonly settings: SettingsArgument };
  readonly install_code: InstallArgument & CanisterArgument & { readonly wasm_module: Uint8Array };
  readonly install_chunked_code: InstallArgument & {
    readonly target_canister: Principal;
    readonly store_canister: Opt<Principal>;
    readonly chunk_hashes_list: readonly { readonly hash: Uint8Array }[];
    readonly wasm_module_hash: Uint8Array;
  };
  readonly upload_chunk: CanisterArgument & { readonly chunk: Uint8Array };
  readonly stored_chunks: CanisterArgument;
  readonly clear_chunk_store: CanisterArgument;
  readonly canister_status: CanisterArgument;
  readonly canister_info: CanisterArgument & { readonly num_requested_changes: Opt<bigint> };
  readonly canister_metadata: CanisterArgument & { readonly name: string };
  readonly fetch_canister_logs: CanisterArgument & {
    readonly filter: Opt<{ readonly by_idx: Range } | { readonly by_timestamp_nanos: Range }>;
  };
  readonly start_canister: CanisterArgument;
  readonly stop_canister: CanisterArgument;
  readonly delete_canister: CanisterArgument;
  readonly uninstall_code: CanisterArgument & WithCallerVersion;
  readonly deposit_cycles: CanisterArgument;
  readonly raw_rand: undefined;
  readonly vetkd_public_key: {
    readonly canister_id: Opt<Principal>;
    readonly context: Uint8Array;
    readonly key_id: { readonly name: string };
  };
  readonly vetkd_derive_key: {
    readonly input: Uint8Array;
    readonly context: Uint8Array;
    readonly transport_public_key: Uint8Array;
    readonly key_id: { readonly name: string };
  };
}

export function isMethodName(name: string): name is MethodName {
  return Object.hasOwn(methodTypes, name);
}

/** Throws for bytes that are not an argument of the method. */
export function decodeArgument<M extends MethodName>(method: M, bytes: Uint8Array): Arguments[M] {
  // The decoder has checked the value against the type that `Arguments` describes in TypeScript.
  return decodeGuarded(methodTypes[method].argument, bytes) as Arguments[M];
}

/** `value`: `undefined` for a method without result. */
export function encodeResult(method: MethodName, value: unknown): Uint8Array {
  const types: readonly IDL.Type[] = methodTypes[method].result;
  return new Uint8Array(IDL.encode([...types], types.length === 0 ? [] : [value]));
}
