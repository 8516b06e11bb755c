// The types that the replica's parts share: principals, outcomes of messages, and the interfaces
// between the execution engine, the management canister, persistence and the two servers (agent
// endpoints, HTTP gateway). Parts import these types and not each other's internals.

import type { Principal } from '@dfinity/principal';
import type { CanisterSettings } from './settings.ts';
import type { SnapshotFacts, SnapshotMetadata } from './snapshot-facts.ts';

/** IC spec, "Reject codes": 1 SYS_FATAL, 2 SYS_TRANSIENT, 3 DESTINATION_INVALID, 4 CANISTER_REJECT,
 * 5 CANISTER_ERROR, 6 SYS_UNKNOWN. */
export type RejectCode = 1 | 2 | 3 | 4 | 5 | 6;

export interface Reply {
  readonly status: 'replied';
  readonly arg: Uint8Array;
}

export interface Reject {
  readonly status: 'rejected';
  readonly code: RejectCode;
  readonly message: string;
  /** The implementation's own code, such as `IC0503`; agents show it beside the message. */
  readonly errorCode: string;
}

export type Outcome = Reply | Reject;

/** A canister's statement (`signer`) about the caller for whom it signs. IC spec, `sender_info`. */
export interface SenderInfo {
  readonly info: Uint8Array;
  readonly signer: Uint8Array;
}

/** A call as ingress, as a query or from another canister. */
export interface CallMessage {
  readonly senderInfo?: SenderInfo | undefined;
  readonly sender: Principal;
  readonly canisterId: Principal;
  readonly method: string;
  readonly arg: Uint8Array;
}

export type EntryKind =
  | 'start'
  | 'init'
  | 'preUpgrade'
  | 'postUpgrade'
  | 'inspect'
  | 'update'
  | 'query'
  | 'replicatedQuery'
  | 'compositeQuery'
  | 'reply'
  | 'reject'
  | 'cleanup'
  | 'timer'
  | 'heartbeat'
  | 'lowMemory';

/** The cost of one executed message, by the network's rules. Log lines and benchmarks use it. */
export interface MessageReport {
  readonly canisterId: string;
  readonly kind: EntryKind;
  readonly method: string;
  readonly instructions: bigint;
  /** Cycles by the price list of a 13-node subnet; 0 for queries. */
  readonly cycles: bigint;
  /** 4 KiB pages first dirtied in this message. */
  readonly heapPages: number;
  readonly stablePages: number;
  readonly milliseconds: number;
  readonly argBytes: number;
  readonly replyBytes: number;
  /** Absent if the message succeeded. */
  readonly error?: string;
}

/** The facts of a canister that the state tree and canister_status may show. */
export interface CanisterView {
  readonly id: Principal;
  readonly controllers: readonly Principal[];
  readonly status: 'running' | 'stopping' | 'stopped';
  readonly moduleHash: Uint8Array | undefined;
  readonly certifiedData: Uint8Array;
  readonly version: bigint;
  readonly cycles: bigint;
  readonly heapBytes: number;
  readonly stableBytes: number;
  /** Custom sections `icp:public NAME` and `icp:private NAME` of the installed module. */
  readonly metadata: ReadonlyMap<
    string,
    { readonly isPublic: boolean; readonly content: Uint8Array }
  >;
}

/** The part of the engine that the agent endpoints and the gateway use. */
export interface Engine {
  /** The replica's time, ns since 1970. */
  now(): bigint;
  canister(id: Principal): CanisterView | undefined;
  canisters(): Iterable<CanisterView>;
  /** Checks ingress: the target runs and `inspect_message` accepts. `undefined` means accepted. */
  checkIngress(message: CallMessage): Promise<Reject | undefined>;
  /** Executes an accepted update, or a query as an update; resolves when its changes are stored. */
  update(message: CallMessage): Promise<Outcome>;
  /** Executes a query in non-replicated mode, which changes nothing. */
  query(message: CallMessage): Promise<Outcome>;
}

/** The source of `ic0.data_certificate_*`; the certification module passes it to the engine. */
export type DataCertificateSource = (canisterId: Principal) => Uint8Array;

export const wasmPageBytes = 65_536;
export const osPageBytes = 4_096;

/** One canister's stable memory. An overlay holds back writes until the engine commits. */
export interface StableMemory {
  /** Size in Wasm pages of 64 KiB, uncommitted growth included. */
  pages(): number;
  /** Returns the former size in Wasm pages, or -1 if the limit (500 GiB) would be exceeded. */
  grow(pages: number): number;
  /** The caller has checked the bounds. */
  read(offset: number, target: Uint8Array): void;
  write(offset: number, source: Uint8Array): void;
  /** Returns the number of 4 KiB pages written since the last commit or rollback. */
  dirtyPages(): number;
  /** Empties the memory for the running message (reinstall, uninstall); `rollback` undoes it. */
  clear(): void;
  rollback(): void;
}

/** A stored canister without its memories. */
export interface StoredCanister {
  readonly id: string;
  /** The engine's record of settings, module, certified data, timer and cycles: opaque bytes. */
  readonly record: Uint8Array;
}

/** The change that a commit makes to a canister's heap and the other state of its instance. */
export interface HeapChange {
  readonly canisterId: string;
  /** Globals, tables and open calls, opaque bytes; `undefined` removes the instance and heap. */
  readonly registers: Uint8Array | undefined;
  /** A new instance replaces the former one: `dirty` lists all pages that are not zero. */
  readonly cleared: boolean;
  /** The present heap; its size is a multiple of 64 KiB. */
  readonly heap: Buffer;
  /** The heap at the last commit; may be shorter. */
  readonly former: Buffer;
  /** Indices of the 4 KiB pages of `heap` that differ. */
  readonly dirty: readonly number[];
}

/** A stored heap. */
export interface StoredHeap {
  /** Size in Wasm pages of 64 KiB. */
  readonly pages: number;
  readonly registers: Uint8Array;
  /** Fills `target` from byte 0. Throws if the heap is damaged. */
  read(target: Uint8Array): void;
}

/** The store of all state: in memory only, or in a folder with a journal. */
export interface StateStore {
  /** Returns all canisters at the last commit. */
  load(): readonly StoredCanister[];
  stableMemory(canisterId: string): StableMemory;
  /** Whether heaps are stored; if not, their changes are ignored. */
  readonly keepsHeaps: boolean;
  /** Returns the heap at the last commit; `undefined` if none is stored. */
  heap(canisterId: string): StoredHeap | undefined;
  /** Makes records, deletions and the overlays of the named canisters durable in one step. */
  commit(change: StateChange): void;
  /** Small values of other parts (the root key, counters), durable at once. */
  getValue(name: string): Uint8Array | undefined;
  setValue(name: string, value: Uint8Array): void;
  /** Stores a Wasm module under its SHA-256 in hexadecimal: written once, outside the journal. */
  putModule(sha256Hex: string, module: Uint8Array): void;
  getModule(sha256Hex: string): Uint8Array | undefined;
  close(): void;
}

export interface StateChange {
  readonly canisters: readonly StoredCanister[];
  /** Ids of canisters whose stable memory overlay is part of this change. */
  readonly stableMemories: readonly string[];
  /** Ids of canisters whose stable memory is cleared (reinstall, uninstall) before the overlays. */
  readonly cleared: readonly string[];
  readonly deleted: readonly string[];
  readonly heaps?: readonly HeapChange[];
  readonly values?: readonly ValueChange[];
}

/** `undefined` removes the value. */
export type ValueChange = readonly [name: string, value: Uint8Array | undefined];

/** One line of a canister's log. */
export interface LogRecord {
  readonly index: bigint;
  /** Nanoseconds since 1970. */
  readonly timestamp: bigint;
  readonly content: Uint8Array;
}

/** The author of a canister's change. IC spec, "IC method canister_info". */
export interface ChangeOrigin {
  readonly caller: Principal;
  /** Absent for a user. */
  readonly canisterVersion?: bigint | undefined;
  readonly isCanister: boolean;
}

export type ChangeDetails =
  | {
      readonly kind: 'creation';
      readonly controllers: readonly Principal[];
      readonly environmentHash: Uint8Array | undefined;
    }
  | { readonly kind: 'uninstall' }
  | { readonly kind: 'deployment'; readonly mode: InstallMode; readonly moduleHash: Uint8Array }
  | { readonly kind: 'controllers'; readonly controllers: readonly Principal[] }
  | {
      readonly kind: 'snapshot';
      /** Absent if the canister itself made the change. */
      readonly from: Principal | undefined;
      readonly snapshotId: Uint8Array;
      readonly canisterVersion: bigint;
      readonly takenAt: bigint;
      readonly source: SnapshotFacts['source'];
    };

export interface CanisterChange {
  readonly timestamp: bigint;
  readonly canisterVersion: bigint;
  readonly origin: ChangeOrigin;
  readonly details: ChangeDetails;
}

export interface CanisterHistory {
  readonly total: bigint;
  /** The newest changes, oldest first. */
  readonly changes: readonly CanisterChange[];
}

/** A call to `aaaaa-aa` from a canister or as ingress. */
export interface ManagementCall {
  readonly caller: Principal;
  readonly fromCanister: boolean;
  readonly method: string;
  readonly arg: Uint8Array;
  readonly cycles: bigint;
  /** A call that changes nothing. */
  readonly isQuery?: boolean;
}

export interface ManagementResult {
  readonly outcome: Outcome;
  readonly refundedCycles: bigint;
}

export interface Management {
  /** Checks the rules for ingress: methods and callers. IC spec. `undefined` means accepted. */
  checkIngress(call: Omit<ManagementCall, 'fromCanister' | 'cycles'>): Reject | undefined;
  /** Returns the canister that pays for an ingress message; undefined if it is free. */
  ingressPayer(call: Pick<ManagementCall, 'method' | 'arg'>): Principal | undefined;
  execute(call: ManagementCall): Promise<ManagementResult>;
}

export type SnapshotPart = 'module' | 'heap' | 'stable';

interface SnapshotOf {
  readonly canisterId: Principal;
  readonly snapshotId: Uint8Array;
}

export interface Snapshots {
  list(canisterId: Principal): readonly SnapshotFacts[];
  find(of: SnapshotOf): SnapshotFacts | Reject;
  take(options: {
    readonly canisterId: Principal;
    readonly replace: Uint8Array | undefined;
    readonly chunks: readonly { readonly hash: Uint8Array; readonly bytes: Uint8Array }[];
  }): SnapshotFacts | Reject;
  /** Creates a snapshot that `write` and `addChunk` fill. */
  create(options: {
    readonly canisterId: Principal;
    readonly replace: Uint8Array | undefined;
    readonly metadata: SnapshotMetadata;
  }): SnapshotFacts | Reject;
  /** The caller has checked the bounds of the span. */
  read(facts: SnapshotFacts, part: SnapshotPart, span: Span): Uint8Array;
  readChunk(facts: SnapshotFacts, hash: Uint8Array): Uint8Array | undefined;
  write(facts: SnapshotFacts, part: SnapshotPart, at: Written): Reject | undefined;
  addChunk(
    facts: SnapshotFacts,
    chunk: { hash: Uint8Array; bytes: Uint8Array },
  ): Reject | undefined;
  load(of: SnapshotOf & { readonly origin: ChangeOrigin }): Reject | undefined;
  remove(of: SnapshotOf): Reject | undefined;
}

interface Span {
  readonly offset: number;
  readonly size: number;
}

interface Written {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export type InstallMode = 'install' | 'reinstall' | 'upgrade';

/** IC spec, "IC method install_code": options of the mode `upgrade`. */
export interface UpgradeOptions {
  readonly skipPreUpgrade?: boolean;
  /** Whether the new code keeps the heap of the former one. */
  readonly wasmMemoryPersistence?: 'keep' | 'replace';
}

/** A canister's balance, its cost per day without messages, and the size of its module. */
export interface CanisterBalance
  extends Readonly<Record<'cycles' | 'reservedCycles' | 'idleCyclesPerDay', bigint>> {
  readonly moduleBytes: number;
}

/** Operations of the engine for the management canister. They return refusals as a Reject. */
export interface Lifecycle {
  create(options: {
    readonly controllers: readonly Principal[];
    readonly cycles: bigint;
    readonly id?: Principal;
    /** Settings other than the default. */
    readonly settings?: Partial<CanisterSettings>;
    /** The anonymous user if absent. */
    readonly origin?: ChangeOrigin;
  }): Principal | Reject;
  install(options: {
    readonly canisterId: Principal;
    readonly mode: InstallMode;
    /** Plain or gzip-compressed. */
    readonly module: Uint8Array;
    readonly arg: Uint8Array;
    readonly sender: Principal;
    readonly upgrade?: UpgradeOptions;
    /** Absent: the sender as a user. */
    readonly origin?: ChangeOrigin;
  }): Promise<Reject | undefined>;
  updateSettings(
    canisterId: Principal,
    settings: Partial<CanisterSettings>,
    origin?: ChangeOrigin,
  ): Reject | undefined;
  start(canisterId: Principal): Reject | undefined;
  /** Resolves when every open call context is closed, or with a Reject after the time-out. */
  stop(canisterId: Principal): Promise<Reject | undefined>;
  uninstall(canisterId: Principal, origin?: ChangeOrigin): Reject | undefined;
  remove(canisterId: Principal): Reject | undefined;
  depositCycles(canisterId: Principal, cycles: bigint): void;
  settings(canisterId: Principal): CanisterSettings | undefined;
  canister(canisterId: Principal): CanisterView | undefined;
  /** Returns the balance after charging for the elapsed time. */
  balance(canisterId: Principal): CanisterBalance | undefined;
  /** Oldest first; empty for a canister that does not exist. */
  logs(canisterId: Principal): readonly LogRecord[];
  history(canisterId: Principal): CanisterHistory;
  readonly snapshots: Snapshots;
}
