// The list of subnets for clients of PocketIC, which request it before they create canisters.
// `dfinity/ic` `packages/pocket-ic/src/common/rest.rs`, Topology: ids of canisters and nodes are in
// base64.

import type { Certification } from '../state/certification.ts';

/** Returns the subnets; new canisters are created on the first besides the root subnet. */
export function describeTopology(subnets: readonly Certification[]): object {
  const canister = (id: Uint8Array) => ({ canister_id: Buffer.from(id).toString('base64') });
  const configs = subnets.map(({ subnetId, facts, nodeKey }, number) => {
    const config = {
      subnet_kind: number === 0 && subnets.length > 1 ? 'NNS' : 'Application',
      subnet_seed: new Array<number>(32).fill(0),
      instruction_config: 'Production',
      node_ids: [{ node_id: Buffer.from(nodeKey.nodeId.toUint8Array()).toString('base64') }],
      canister_ranges: facts.canisterRanges.map(([start, end]) => {
        return { start: canister(start), end: canister(end) };
      }),
    };
    return [subnetId.toText(), config] as const;
  });
  const [[first] = [new Uint8Array()]] = (subnets[1] ?? subnets[0])?.facts.canisterRanges ?? [];
  return {
    subnet_configs: Object.fromEntries(configs),
    default_effective_canister_id: canister(first),
  };
}
