// Facts about a snapshot besides its bytes: part of the shared types of core.ts.

/** IC spec, OnLowWasmMemoryHookStatus. */
export type LowMemoryHook = 'not satisfied' | 'ready' | 'executed';

export interface SnapshotGlobal {
  readonly type: 'i32' | 'i64' | 'f32' | 'f64';
  /** bigint for i64. */
  readonly value: number | bigint;
}

/** The metadata of a snapshot; sizes in bytes. */
export interface SnapshotMetadata {
  readonly moduleBytes: number;
  readonly heapBytes: number;
  readonly stableBytes: number;
  /** The globals that code can change, in order. */
  readonly globals: readonly SnapshotGlobal[];
  readonly certifiedData: Uint8Array;
  /** `undefined`: not specified; 0: inactive. */
  readonly globalTimer: bigint | undefined;
  readonly lowMemoryHook: LowMemoryHook | undefined;
}

export interface SnapshotFacts extends SnapshotMetadata {
  readonly id: Uint8Array;
  readonly source: 'canister' | 'upload';
  readonly takenAt: bigint;
  readonly canisterVersion: bigint;
  readonly chunks: readonly SnapshotChunk[];
}

interface SnapshotChunk {
  readonly hash: Uint8Array;
  readonly bytes: number;
}
