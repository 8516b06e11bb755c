// The paths of the state tree; the signer adds the time. IC spec, "The system state tree".

import type { Principal } from '@dfinity/principal';
import type { CanisterView } from '../core.ts';
import type { CanisterRange } from '../subnet-ranges.ts';
import type { HashTree } from './hash-tree.ts';
import { empty, fork, fromEntries, labeled, leaf } from './hash-tree.ts';
import { encodeLeb128 } from './leb128.ts';
import { encodeSelfDescribed } from './self-described-cbor.ts';
import type { NodeKey } from './subnet-key.ts';

// A module's sections never change, so their hashes are cached as long as the engine has the map.
const metadataTrees = new WeakMap<CanisterView['metadata'], HashTree>();

function metadataTree(metadata: CanisterView['metadata']): HashTree {
  const known = metadataTrees.get(metadata);
  if (known !== undefined) return known;
  const tree = fromEntries(
    [...metadata].map(([name, { content }]) => [name, leaf(content)] as const),
  );
  metadataTrees.set(metadata, tree);
  return tree;
}

function canisterTree(canister: CanisterView): HashTree {
  const controllers = canister.controllers.map((controller) => controller.toUint8Array());
  const entries: [string, HashTree][] = [
    ['certified_data', leaf(canister.certifiedData)],
    ['controllers', leaf(encodeSelfDescribed(controllers))],
  ];
  if (canister.moduleHash !== undefined) entries.push(['module_hash', leaf(canister.moduleHash)]);
  if (canister.metadata.size > 0) entries.push(['metadata', metadataTree(canister.metadata)]);
  return fromEntries(entries);
}

/** The parts of the tree that stay the same while the replica runs. */
export interface SubnetTrees {
  readonly canisterRanges: HashTree;
  readonly subnet: HashTree;
}

/** The facts about a subnet that the state trees of all subnets contain. */
export interface SubnetFacts {
  readonly id: Principal;
  /** DER, 133 bytes. */
  readonly publicKey: Uint8Array;
  readonly type: 'system' | 'application' | 'cloud_engine';
  readonly canisterRanges: readonly CanisterRange[];
}

/** Only the tree of the subnet itself, `own`, lists its nodes. */
export function createSubnetTrees(
  subnets: readonly SubnetFacts[],
  own: { readonly id: Principal; readonly nodeKey: NodeKey },
): SubnetTrees {
  const trees = subnets.map(({ id, publicKey, type, canisterRanges }) => {
    const ranges = leaf(encodeSelfDescribed(canisterRanges));
    const subnet = fromEntries([
      ['canister_ranges', ranges],
      ...(id.compareTo(own.id) === 'eq' ? [['node', nodeTree(own.nodeKey)] as const] : []),
      ['public_key', leaf(publicKey)],
      ['type', leaf(Buffer.from(type))],
    ]);
    // The ranges of a subnet are one shard, which is labeled with their first id.
    const [[first] = [new Uint8Array()]] = canisterRanges;
    return { id: id.toUint8Array(), ranges: labeled(first, ranges), subnet };
  });
  return {
    canisterRanges: fromEntries(trees.map(({ id, ranges }) => [id, ranges] as const)),
    subnet: fromEntries(trees.map(({ id, subnet }) => [id, subnet] as const)),
  };
}

function nodeTree({ nodeId, publicKey }: NodeKey): HashTree {
  return labeled(nodeId.toUint8Array(), labeled('public_key', leaf(publicKey)));
}

/**
 * Returns the tree without the time, which sorts last. All top labels exist even if nothing is
 * below them, because a missing label is proved by revealing its neighbors: `canister` would then
 * be revealed beside a requested `canister_ranges`, which agents then take for absent, because
 * `canister` is a prefix of it.
 */
export function createStateTree(state: {
  readonly canisters: Iterable<CanisterView>;
  readonly requestStatus: HashTree;
  readonly subnetTrees: SubnetTrees;
}): HashTree {
  const canisters = [...state.canisters].map(
    (canister) => [canister.id.toUint8Array(), canisterTree(canister)] as const,
  );
  return fromEntries([
    ['api_boundary_nodes', empty()],
    ['canister', fromEntries(canisters)],
    ['canister_ranges', state.subnetTrees.canisterRanges],
    ['request_status', state.requestStatus],
    ['subnet', state.subnetTrees.subnet],
  ]);
}

export function withTime(stateTree: HashTree, timeNs: bigint): HashTree {
  return fork(stateTree, labeled('time', leaf(encodeLeb128(timeNs))));
}
