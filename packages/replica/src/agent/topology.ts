// The list of subnets for clients of PocketIC, which request it before they create canisters.
// `dfinity/ic` `packages/pocket-ic/src/common/rest.rs`, Topology: ids of canisters and nodes are in
// base64.

import type { Certification } from '../state/certification.ts';
import { firstCanisterId, lastCanisterId } from '../state/state-tree.ts';

/** Returns one subnet that contains all canister ids. */
export function describeTopology({ subnetId, nodeKey }: Certification): object {
  const canister = (id: Buffer) => ({ canister_id: id.toString('base64') });
  const subnet = {
    subnet_kind: 'Application',
    subnet_seed: new Array<number>(32).fill(0),
    instruction_config: 'Production',
    node_ids: [{ node_id: Buffer.from(nodeKey.nodeId.toUint8Array()).toString('base64') }],
    canister_ranges: [{ start: canister(firstCanisterId), end: canister(lastCanisterId) }],
  };
  return {
    subnet_configs: { [subnetId.toText()]: subnet },
    default_effective_canister_id: canister(firstCanisterId),
  };
}
