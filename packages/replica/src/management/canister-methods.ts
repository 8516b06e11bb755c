// Management methods about a canister as a whole: its making and end, settings, status and cycles.

import type { Principal } from '@dfinity/principal';
import type { Lifecycle, Reject } from '../core.ts';
import type { Opt, SettingsArgument } from './candid-types.ts';
import { canisterStatus } from './canister-status.ts';
import { type Done, done, type Handlers, type Parts } from './handlers.ts';
import { canisterNotFound, creationFeeMissing, isReject } from './rejects.ts';
import { readSettings } from './settings.ts';

/** IC price list, 13 nodes. */
const creationFee = 500_000_000_000n;
const defaultProvisionalCycles = 100_000_000_000_000n;

type CanisterMethod =
  | 'create_canister'
  | 'provisional_create_canister_with_cycles'
  | 'provisional_top_up_canister'
  | 'update_settings'
  | 'canister_status'
  | 'start_canister'
  | 'stop_canister'
  | 'delete_canister'
  | 'uninstall_code'
  | 'deposit_cycles';

export function canisterMethods(parts: Parts): Handlers<CanisterMethod> {
  const { lifecycle } = parts;
  return {
    create_canister: ({ settings }, { caller, cycles }) => {
      if (cycles < creationFee) return creationFeeMissing(creationFee, cycles);
      const balance = cycles - creationFee;
      return create(lifecycle, { settings, caller, cycles: balance, keptCycles: cycles });
    },
    provisional_create_canister_with_cycles: ({ amount, settings, specified_id: id }, call) => {
      const cycles = amount[0] ?? parts.options.provisionalCycles ?? defaultProvisionalCycles;
      return create(lifecycle, { settings, caller: call.caller, cycles, id: id[0] });
    },
    provisional_top_up_canister: ({ canister_id: id, amount }) => {
      lifecycle.depositCycles(id, amount);
      return {};
    },
    update_settings: ({ canister_id: id, settings }) => {
      const read = readSettings([settings]);
      return isReject(read) ? read : done(lifecycle.updateSettings(id, read));
    },
    canister_status: ({ canister_id: id }) => status(parts, id),
    start_canister: ({ canister_id: id }) => done(lifecycle.start(id)),
    stop_canister: async ({ canister_id: id }) => done(await lifecycle.stop(id)),
    delete_canister: ({ canister_id: id }) =>
      withoutChunks(parts, { id, refusal: lifecycle.remove(id) }),
    uninstall_code: ({ canister_id: id }) =>
      withoutChunks(parts, { id, refusal: lifecycle.uninstall(id) }),
    deposit_cycles: ({ canister_id: id }, { cycles }) => {
      lifecycle.depositCycles(id, cycles);
      return { keptCycles: cycles };
    },
  };
}

function create(
  lifecycle: Lifecycle,
  wanted: {
    readonly settings: Opt<SettingsArgument>;
    readonly caller: Principal;
    readonly cycles: bigint;
    readonly keptCycles?: bigint;
    readonly id?: Principal | undefined;
  },
): Done | Reject {
  const settings = readSettings(wanted.settings);
  if (isReject(settings)) return settings;
  const id = lifecycle.create({
    controllers: settings.controllers ?? [wanted.caller],
    cycles: wanted.cycles,
    settings,
    ...(wanted.id === undefined ? {} : { id: wanted.id }),
  });
  if (isReject(id)) return id;
  return { value: { canister_id: id }, keptCycles: wanted.keptCycles ?? 0n };
}

function status({ lifecycle, chunks }: Parts, id: Principal): Done | Reject {
  // First: a canister that can't pay for the time that has passed has no code any more.
  const balance = lifecycle.balance(id);
  const view = lifecycle.canister(id);
  const settings = lifecycle.settings(id);
  if (!balance || !view || !settings) return canisterNotFound(id);
  const chunkStoreBytes = chunks.size(id.toText());
  return { value: canisterStatus({ view, balance, settings, chunkStoreBytes }) };
}

/** Code that goes takes the chunk store with it: IC spec, "IC method uninstall_code". */
function withoutChunks(
  { chunks }: Parts,
  result: { readonly id: Principal; readonly refusal: Reject | undefined },
): Done | Reject {
  if (result.refusal !== undefined) return result.refusal;
  chunks.clear(result.id.toText());
  return {};
}
