// Management methods for snapshots. IC spec, from "IC method take_canister_snapshot" on.

import { sha256 } from '@noble/hashes/sha2';
import type { ManagementCall, Reject, SnapshotPart } from '../core.ts';
import { ownerOf, snapshotBytes } from '../execution/snapshot-list.ts';
import type { SnapshotFacts } from '../snapshot-facts.ts';
import { isSame } from './access.ts';
import type { Arguments } from './candid-types.ts';
import { chunkBytesMax, chunksMax } from './chunk-store.ts';
import { type Done, done, type Handlers, originOf, type Parts } from './handlers.ts';
import {
  canisterNotFound,
  immutableSnapshot,
  isReject,
  notController,
  refused,
} from './rejects.ts';
import type { SnapshotArguments } from './snapshot-types.ts';
import { metadataValue, readMetadata } from './snapshot-values.ts';

/** `dfinity/ic` `rs/execution_environment/src/canister_manager.rs`, MAX_SLICE_SIZE_BYTES. */
const sliceBytesMax = 2_000_000;

export function snapshotMethods(parts: Parts): Handlers<keyof SnapshotArguments> {
  const { snapshots } = parts.lifecycle;
  const find = (argument: Arguments['delete_canister_snapshot']) => {
    return snapshots.find({
      canisterId: argument.canister_id,
      snapshotId: argument.snapshot_id,
    });
  };
  return {
    take_canister_snapshot: (argument, call) => take(parts, { argument, call }),
    load_canister_snapshot: (argument, call) => load(parts, { argument, call }),
    list_canister_snapshots: ({ canister_id: id }) => ({
      value: snapshots.list(id).map(snapshotValue),
    }),
    delete_canister_snapshot: ({ canister_id: canisterId, snapshot_id: snapshotId }) =>
      done(snapshots.remove({ canisterId, snapshotId })),
    read_canister_snapshot_metadata: (argument) => {
      const facts = find(argument);
      return isReject(facts) ? facts : { value: metadataValue(facts) };
    },
    read_canister_snapshot_data: (argument) => {
      const facts = find(argument);
      return isReject(facts) ? facts : read(parts, { argument, facts });
    },
    upload_canister_snapshot_metadata: (argument) => {
      const metadata = readMetadata(argument);
      if (isReject(metadata)) return metadata;
      const [replace] = argument.replace_snapshot;
      const made = snapshots.create({ canisterId: argument.canister_id, replace, metadata });
      return isReject(made) ? made : { value: { snapshot_id: made.id } };
    },
    upload_canister_snapshot_data: (argument) => {
      const facts = find(argument);
      return isReject(facts) ? facts : write(parts, { argument, facts });
    },
  };
}

function snapshotValue(facts: SnapshotFacts): object {
  return { id: facts.id, taken_at_timestamp: facts.takenAt, total_size: snapshotBytes(facts) };
}

function take(
  { lifecycle, chunks }: Parts,
  request: {
    readonly argument: Arguments['take_canister_snapshot'];
    readonly call: ManagementCall;
  },
): Done | Reject {
  const { canister_id: canisterId, replace_snapshot: replace } = request.argument;
  const idText = canisterId.toText();
  const stored = chunks.all(idText);
  const facts = lifecycle.snapshots.take({ canisterId, replace: replace[0], chunks: stored });
  if (isReject(facts)) return facts;
  if (request.argument.uninstall_code[0]) {
    const origin = originOf(request.call, request.argument.sender_canister_version);
    const refusal = lifecycle.uninstall(canisterId, origin);
    if (refusal !== undefined) return refusal;
    chunks.clear(idText);
  }
  return { value: snapshotValue(facts) };
}

/** The caller must control both canisters; the target was already checked. */
function load(
  { lifecycle, chunks }: Parts,
  request: {
    readonly argument: Arguments['load_canister_snapshot'];
    readonly call: ManagementCall;
  },
): Done | Reject {
  const { canister_id: canisterId, snapshot_id: snapshotId } = request.argument;
  const { caller } = request.call;
  const owner = ownerOf(snapshotId) ?? canisterId;
  const source = lifecycle.canister(owner);
  if (source === undefined) return canisterNotFound(owner);
  if (!source.controllers.some((one) => isSame(one, caller))) {
    return notController(owner, 'load_canister_snapshot');
  }
  const origin = originOf(request.call, request.argument.sender_canister_version);
  const refusal = lifecycle.snapshots.load({ canisterId, snapshotId, origin });
  if (refusal !== undefined) return refusal;
  const facts = lifecycle.snapshots.find({ canisterId: owner, snapshotId });
  if (isReject(facts)) return facts;
  chunks.clear(canisterId.toText());
  for (const { hash } of facts.chunks) {
    const chunk = lifecycle.snapshots.readChunk(facts, hash);
    if (chunk !== undefined) chunks.upload(canisterId.toText(), chunk);
  }
  return {};
}

const sizes = { module: 'moduleBytes', heap: 'heapBytes', stable: 'stableBytes' } as const;

function partOf<T>(
  kind: { readonly wasm_module: T } | { readonly wasm_memory: T } | { readonly stable_memory: T },
): readonly [SnapshotPart, T] {
  if ('wasm_module' in kind) return ['module', kind.wasm_module];
  return 'wasm_memory' in kind ? ['heap', kind.wasm_memory] : ['stable', kind.stable_memory];
}

function checkSpan(
  facts: SnapshotFacts,
  part: SnapshotPart,
  { offset, size }: { readonly offset: bigint; readonly size: bigint },
): Reject | undefined {
  if (size > sliceBytesMax) return refused(`Snapshot: at most ${sliceBytesMax} bytes at once`);
  const whole = BigInt(facts[sizes[part]]);
  if (offset + size <= whole) return undefined;
  return refused(`Snapshot: bytes ${offset} to ${offset + size} are beyond its ${whole} bytes`);
}

function read(
  { lifecycle }: Parts,
  request: {
    readonly argument: Arguments['read_canister_snapshot_data'];
    readonly facts: SnapshotFacts;
  },
): Done | Reject {
  const { argument, facts } = request;
  const { kind } = argument;
  if ('wasm_chunk' in kind) {
    const chunk = lifecycle.snapshots.readChunk(facts, kind.wasm_chunk.hash);
    return chunk ? { value: { chunk } } : refused('Snapshot: it has no chunk with that hash');
  }
  const [part, span] = partOf(kind);
  const refusal = checkSpan(facts, part, span);
  if (refusal !== undefined) return refusal;
  const at = { offset: Number(span.offset), size: Number(span.size) };
  return { value: { chunk: lifecycle.snapshots.read(facts, part, at) } };
}

function write(
  { lifecycle }: Parts,
  request: {
    readonly argument: Arguments['upload_canister_snapshot_data'];
    readonly facts: SnapshotFacts;
  },
): Done | Reject {
  const { argument, facts } = request;
  const { kind, chunk: bytes } = argument;
  if (facts.source !== 'upload') return immutableSnapshot(facts.id);
  if ('wasm_chunk' in kind) {
    if (bytes.length > chunkBytesMax || facts.chunks.length >= chunksMax) {
      return refused(`Snapshot: at most ${chunksMax} chunks of ${chunkBytesMax} bytes`);
    }
    return done(lifecycle.snapshots.addChunk(facts, { hash: sha256(bytes), bytes }));
  }
  const [part, { offset }] = partOf(kind);
  const refusal = checkSpan(facts, part, { offset, size: BigInt(bytes.length) });
  if (refusal !== undefined) return refusal;
  return done(lifecycle.snapshots.write(facts, part, { offset: Number(offset), bytes }));
}
