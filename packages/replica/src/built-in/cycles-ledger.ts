// `create_canister` of the cycles ledger, without its accounts: the management canister's
// provisional method creates the canister for the caller, with the requested cycles.
// `dfinity/cycles-ledger` `cycles-ledger/cycles-ledger.did`.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import type { CallMessage, Engine, Outcome } from '../core.ts';
import { canisterCreationCycles } from '../execution/prices.ts';
import { decodeGuarded } from '../management/candid-guard.ts';
import {
  canisterSettings,
  methodTypes,
  type Opt,
  type SettingsArgument,
} from '../management/candid-types.ts';

const creation = methodTypes.provisional_create_canister_with_cycles;
const managementId = Principal.managementCanister();

/** A selection by another criterion than the id is decoded as none. */
const subnetSelection = IDL.Variant({ Subnet: IDL.Record({ subnet: IDL.Principal }) });
const creationArguments = IDL.Record({
  settings: IDL.Opt(canisterSettings),
  subnet_selection: IDL.Opt(subnetSelection),
});
const argumentType = IDL.Record({ amount: IDL.Nat, creation_args: IDL.Opt(creationArguments) });
const resultType = IDL.Variant({
  Ok: IDL.Record({ block_id: IDL.Nat, canister_id: IDL.Principal }),
  Err: IDL.Variant({
    FailedToCreate: IDL.Record({
      error: IDL.Text,
      fee_block: IDL.Opt(IDL.Nat),
      refund_block: IDL.Opt(IDL.Nat),
    }),
    GenericError: IDL.Record({ error_code: IDL.Nat, message: IDL.Text }),
  }),
});

interface Argument {
  readonly amount: bigint;
  readonly creation_args: Opt<{
    readonly settings: Opt<SettingsArgument>;
    readonly subnet_selection: Opt<{ readonly Subnet: { readonly subnet: Principal } }>;
  }>;
}

/** A subnet on which canisters are created. */
export interface CreationSubnet {
  readonly id: Principal;
  readonly engine: Engine;
}

/** Creates the canister on the selected subnet, or on the first; the network draws one. */
export async function createByLedger(
  subnets: readonly CreationSubnet[],
  message: CallMessage,
): Promise<Outcome> {
  let argument: Argument;
  try {
    argument = decodeGuarded([argumentType], message.arg) as Argument;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return failed({ GenericError: { error_code: 0n, message: `Invalid argument: ${reason}` } });
  }
  const { amount, creation_args: wanted } = argument;
  if (amount < canisterCreationCycles) {
    const error = `Insufficient cycles: creating a canister takes ${canisterCreationCycles}`;
    return failed({ FailedToCreate: { error, fee_block: [], refund_block: [] } });
  }
  const selected = wanted[0]?.subnet_selection[0]?.Subnet.subnet;
  const subnet = selected ? subnets.find(({ id }) => id.compareTo(selected) === 'eq') : subnets[0];
  if (subnet === undefined) {
    const known = subnets.map(({ id }) => id.toText()).join(', ');
    const error = `Subnet ${selected?.toText()} does not exist; use one of: ${known}`;
    return failed({ FailedToCreate: { error, fee_block: [], refund_block: [] } });
  }
  const outcome = await subnet.engine.update({
    sender: message.sender,
    canisterId: managementId,
    method: 'provisional_create_canister_with_cycles',
    arg: creationArgument(amount - canisterCreationCycles, wanted[0]?.settings ?? []),
  });
  if (outcome.status === 'rejected') {
    return failed({ FailedToCreate: { error: outcome.message, fee_block: [], refund_block: [] } });
  }
  const [made] = IDL.decode([...creation.result], outcome.arg) as unknown as [object];
  return reply({ Ok: { block_id: 0n, ...made } });
}

function creationArgument(amount: bigint, settings: Opt<SettingsArgument>): Uint8Array {
  const value = { amount: [amount], settings, specified_id: [], sender_canister_version: [] };
  return new Uint8Array(IDL.encode([...creation.argument], [value]));
}

function failed(error: object): Outcome {
  return reply({ Err: error });
}

function reply(result: object): Outcome {
  return { status: 'replied', arg: new Uint8Array(IDL.encode([resultType], [result])) };
}
