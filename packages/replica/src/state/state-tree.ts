// The paths of the state tree; the signer adds the time. IC spec, "The system state tree".

import type { CanisterView } from '../core.ts';
import type { HashTree } from './hash-tree.ts';
import { empty, fork, fromEntries, labeled, leaf } from './hash-tree.ts';
import { encodeLeb128 } from './leb128.ts';
import type { NodeKey, RootKey } from './root-key.ts';
import { encodeSelfDescribed } from './self-described-cbor.ts';

/** The first and the last canister id that any subnet can hold: 8 bytes of index, then 01 01. */
export const firstCanisterId = Buffer.from('00000000000000000101', 'hex');
export const lastCanisterId = Buffer.from('ffffffffffffffff0101', 'hex');

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

export function createSubnetTrees(rootKey: RootKey, nodeKey: NodeKey): SubnetTrees {
  const id = rootKey.subnetId.toUint8Array();
  const ranges = leaf(encodeSelfDescribed([[firstCanisterId, lastCanisterId]]));
  const node = labeled(
    nodeKey.nodeId.toUint8Array(),
    labeled('public_key', leaf(nodeKey.publicKey)),
  );
  const subnet = fromEntries([
    ['canister_ranges', ranges],
    ['node', node],
    ['public_key', leaf(rootKey.publicKey)],
    ['type', leaf(Buffer.from('system'))],
  ]);
  return {
    canisterRanges: labeled(id, labeled(firstCanisterId, ranges)),
    subnet: labeled(id, subnet),
  };
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
