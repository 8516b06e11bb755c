// Ingress messages before their execution: the checks of the node that receives them, and the
// payment for their reception. The canister that a message concerns pays for one to the management
// canister. IC spec, "Request: Call"; `dfinity/ic` rs/cycles_account_manager,
// ingress_induction_cost.

import { Principal } from '@dfinity/principal';
import type { CallMessage, Outcome, Reject } from '../core.ts';
import { chargeOn } from '../subnet-type.ts';
import type { Canister } from './canister.ts';
import type { EngineState } from './core-state.ts';
import { isController, refuseCall } from './core-state.ts';
import { canisterNotFound, noModuleForIngress, outOfCycles } from './errors.ts';
import { freezingReserve } from './freezing.ts';
import { chargeIdle } from './idle.ts';
import { ingressCycles } from './prices.ts';
import { inspectMessage } from './queries.ts';
import { executeManagement } from './routing.ts';
import { prepay } from './run-message.ts';

export const managementText = Principal.managementCanister().toText();

/** Returns the charge for the reception of the message. */
export function receptionCycles({ world }: EngineState, { arg, method }: CallMessage): bigint {
  return chargeOn(world.subnetType, ingressCycles(arg.length + method.length));
}

/** MAX_DELAYED_INGRESS_COST_PAYLOAD_SIZE. */
const delayedBytesMax = 338;

/** Small changes of settings are paid for afterwards: they may unfreeze their canister. */
function isPaidLater({ method, arg }: CallMessage): boolean {
  return method === 'update_settings' && arg.length <= delayedBytesMax;
}

/** Returns the canister that pays for an ingress message to the management canister. */
function payerOf(state: EngineState, message: CallMessage): Canister | undefined {
  const id = state.management().ingressPayer(message);
  return id && state.canisters.get(id.toText());
}

/** Executes an update of the management canister, and charges for its reception. */
export async function updateManagement(state: EngineState, message: CallMessage): Promise<Outcome> {
  const { sender, method, arg } = message;
  const payer = payerOf(state, message);
  const cycles = receptionCycles(state, message);
  if (payer && !isPaidLater(message)) prepay(payer, cycles);
  const call = { caller: sender, fromCanister: false, method, arg, cycles: 0n };
  const { outcome } = await executeManagement(state, call);
  if (payer && isPaidLater(message) && outcome.status === 'replied') prepay(payer, cycles);
  return outcome;
}

/** Returns the refusal of an ingress message that the canister cannot pay above its reserve. */
function refuseUnpaid(
  state: EngineState,
  message: CallMessage,
  canister: Canister,
): Reject | undefined {
  chargeIdle(state, canister);
  const needed = receptionCycles(state, message) + freezingReserve(state, canister);
  const missing = needed - canister.record.cycles;
  if (missing <= 0n) return undefined;
  const isShown = isController(canister, message.sender.toUint8Array());
  return outOfCycles(canister.idText, missing, isShown);
}

function checkManagementIngress(state: EngineState, message: CallMessage): Reject | undefined {
  const { sender: caller, method, arg } = message;
  const refused = state.management().checkIngress({ caller, method, arg });
  const payer = payerOf(state, message);
  if (refused || payer === undefined || isPaidLater(message)) return refused;
  return refuseUnpaid(state, message, payer);
}

/** Returns the refusal of a message that the receiving node does not accept. */
export function checkIngress(state: EngineState, message: CallMessage): Reject | undefined {
  const idText = message.canisterId.toText();
  if (idText === managementText) return checkManagementIngress(state, message);
  const canister = state.canisters.get(idText);
  if (canister === undefined) return canisterNotFound(idText);
  const isEmpty = canister.record.moduleHash === undefined;
  if (isEmpty && canister.record.status === 'running') {
    return refuseUnpaid(state, message, canister) ?? noModuleForIngress();
  }
  const refused = refuseCall(canister, idText) ?? refuseUnpaid(state, message, canister);
  return refused ?? inspectMessage(state, message, canister);
}
