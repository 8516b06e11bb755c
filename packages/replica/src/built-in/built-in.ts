// Two canisters of the network that deployment tools call: the cycles minting canister lists the
// subnets, and the cycles ledger creates a canister. They answer only requests of agents over HTTP,
// not calls from canisters, and only while no canister with their id exists. They store nothing,
// because cycles are free here.

import { IDL } from '@dfinity/candid';
import type { CallMessage, Engine, Outcome, Reject } from '../core.ts';
import { noMethod } from '../execution/errors.ts';
import { type CreationSubnet, createByLedger } from './cycles-ledger.ts';

const mintingId = 'rkp4c-7iaaa-aaaaa-aaaca-cai';
const ledgerId = 'um5iw-rqaaa-aaaaq-qaaba-cai';

export const builtInIds: ReadonlySet<string> = new Set([mintingId, ledgerId]);

type Kind = 'query' | 'update';

/** @param subnets the subnets on which canisters are created; at least one. */
export function withBuiltIns(engine: Engine, subnets: readonly CreationSubnet[]): Engine {
  const isBuiltIn = ({ canisterId }: CallMessage) =>
    builtInIds.has(canisterId.toText()) && engine.canister(canisterId) === undefined;
  return {
    ...engine,
    checkIngress: async (message) =>
      isBuiltIn(message) ? refuse(message, 'update') : engine.checkIngress(message),
    update: async (message) =>
      isBuiltIn(message) ? answer(message, { kind: 'update', subnets }) : engine.update(message),
    query: async (message) =>
      isBuiltIn(message) ? answer(message, { kind: 'query', subnets }) : engine.query(message),
  };
}

const methods: Readonly<Record<string, readonly Kind[]>> = {
  [`${mintingId} get_default_subnets`]: ['query', 'update'],
  [`${ledgerId} create_canister`]: ['update'],
};

function refuse({ canisterId, method }: CallMessage, kind: Kind): Reject | undefined {
  const idText = canisterId.toText();
  const isThere = methods[`${idText} ${method}`]?.includes(kind);
  return isThere ? undefined : noMethod(idText, kind, method);
}

async function answer(
  message: CallMessage,
  parts: { readonly kind: Kind; readonly subnets: readonly CreationSubnet[] },
): Promise<Outcome> {
  const refused = refuse(message, parts.kind);
  if (refused) return refused;
  if (message.method === 'create_canister') return createByLedger(parts.subnets, message);
  const subnets = IDL.encode([IDL.Vec(IDL.Principal)], [parts.subnets.map(({ id }) => id)]);
  return { status: 'replied', arg: new Uint8Array(subnets) };
}
