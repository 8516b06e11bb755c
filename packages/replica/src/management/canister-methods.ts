// Management methods for whole canisters: creation and deletion, settings, status and cycles.

import type { Principal } from '@dfinity/principal';
import type { ChangeOrigin, Lifecycle, Reject } from '../core.ts';
import type { Opt, SettingsArgument } from './candid-types.ts';
import { canisterStatus } from './canister-status.ts';
import { type Done, done, feeFor, type Handlers, originOf, type Parts } from './handlers.ts';
import { canisterNotFound, creationFeeMissing, isReject, withoutBalance } from './rejects.ts';
import { readSettings } from './settings.ts';

/** IC price list, 13 nodes. */
const creationPrice = 500_000_000_000n;
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
  const { lifecycle, options } = parts;
  const creationFee = feeFor(options, creationPrice);
  return {
    create_canister: ({ settings, sender_canister_version: version }, call) => {
      const { caller, cycles } = call;
      if (cycles < creationFee) return creationFeeMissing(creationFee, cycles);
      const balance = cycles - creationFee;
      const origin = originOf(call, version);
      return create(lifecycle, { settings, caller, cycles: balance, keptCycles: cycles, origin });
    },
    provisional_create_canister_with_cycles: (argument, call) => {
      const { amount, settings, specified_id: id } = argument;
      const origin = originOf(call, argument.sender_canister_version);
      const cycles = amount[0] ?? options.provisionalCycles ?? defaultProvisionalCycles;
      return create(lifecycle, { settings, caller: call.caller, cycles, id: id[0], origin });
    },
    provisional_top_up_canister: ({ canister_id: id, amount }) => {
      if (options.subnetType === 'cloud-engine') return withoutBalance(id);
      lifecycle.depositCycles(id, amount);
      return {};
    },
    update_settings: ({ canister_id: id, settings, sender_canister_version: version }, call) => {
      const read = readSettings([settings]);
      if (isReject(read)) return read;
      return done(lifecycle.updateSettings(id, read, originOf(call, version)));
    },
    canister_status: ({ canister_id: id }) => status(parts, id),
    start_canister: ({ canister_id: id }) => done(lifecycle.start(id)),
    stop_canister: async ({ canister_id: id }) => done(await lifecycle.stop(id)),
    delete_canister: ({ canister_id: id }) =>
      withoutChunks(parts, { id, refusal: lifecycle.remove(id) }),
    uninstall_code: ({ canister_id: id, sender_canister_version: version }, call) => {
      const refusal = lifecycle.uninstall(id, originOf(call, version));
      return withoutChunks(parts, { id, refusal });
    },
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
    readonly origin: ChangeOrigin;
  },
): Done | Reject {
  const settings = readSettings(wanted.settings);
  if (isReject(settings)) return settings;
  const id = lifecycle.create({
    controllers: settings.controllers ?? [wanted.caller],
    cycles: wanted.cycles,
    settings,
    origin: wanted.origin,
    ...(wanted.id === undefined ? {} : { id: wanted.id }),
  });
  if (isReject(id)) return id;
  return { value: { canister_id: id }, keptCycles: wanted.keptCycles ?? 0n };
}

function status({ lifecycle, chunks }: Parts, id: Principal): Done | Reject {
  // Read first: a canister that cannot pay for the elapsed time loses its code.
  const balance = lifecycle.balance(id);
  const view = lifecycle.canister(id);
  const settings = lifecycle.settings(id);
  if (!balance || !view || !settings) return canisterNotFound(id);
  const chunkStoreBytes = chunks.size(id.toText());
  const snapshots = lifecycle.snapshots.list(id);
  const logs = lifecycle.logs(id);
  return { value: canisterStatus({ view, balance, settings, chunkStoreBytes, snapshots, logs }) };
}

/** Removing code also removes the chunk store: IC spec, "IC method uninstall_code". */
function withoutChunks(
  { chunks }: Parts,
  result: { readonly id: Principal; readonly refusal: Reject | undefined },
): Done | Reject {
  if (result.refusal !== undefined) return result.refusal;
  chunks.clear(result.id.toText());
  return {};
}
