// Calls from the same process: without signatures and CBOR, but with the checks that messages get.

import { Principal } from '@dfinity/principal';
import type { CallMessage, InstallMode, Outcome, Reject, UpgradeOptions } from './core.ts';
import type { JoinedEngine } from './joined-engines.ts';
import { RejectError } from './reject-error.ts';

export type PrincipalLike = Principal | string;

export interface CallerOptions {
  /** Absent: anonymous. */
  readonly sender?: PrincipalLike;
}

export interface InProcessCalls {
  createCanister(options?: {
    /** Absent: the anonymous principal. */
    readonly controllers?: readonly PrincipalLike[];
    readonly cycles?: bigint;
    readonly id?: PrincipalLike;
    /** The subnet, one of `subnets`; absent: that of the id, otherwise the first. */
    readonly subnet?: PrincipalLike;
  }): Promise<Principal>;
  /** Throws a RejectError, without a change, if the code is refused or traps. */
  install(
    canisterId: PrincipalLike,
    wasm: Uint8Array,
    arg?: Uint8Array,
    options?: CallerOptions & UpgradeOptions & { readonly mode?: InstallMode },
  ): Promise<void>;
  upgrade(
    canisterId: PrincipalLike,
    wasm: Uint8Array,
    arg?: Uint8Array,
    options?: CallerOptions & UpgradeOptions,
  ): Promise<void>;
  /** Calls an update, with the checks of ingress; returns the reply or throws a RejectError. */
  call(
    canisterId: PrincipalLike,
    method: string,
    arg?: Uint8Array,
    options?: CallerOptions,
  ): Promise<Uint8Array>;
  /** Calls a query; returns the reply or throws a RejectError. */
  query(
    canisterId: PrincipalLike,
    method: string,
    arg?: Uint8Array,
    options?: CallerOptions,
  ): Promise<Uint8Array>;
}

/** Practically unlimited: a GiB costs 4 trillion cycles per year, and 2 trillion to upload. */
const defaultCycles = 100_000_000_000_000_000n;
/** `DIDL` with no types and no values. */
const noArguments = Uint8Array.of(0x44, 0x49, 0x44, 0x4c, 0, 0);

type CalledEngine = Pick<JoinedEngine, 'create' | 'install' | 'checkIngress' | 'update' | 'query'>;

/** @param subnetIds the ids of all subnets, by number; absent for a single engine. */
export function createInProcessCalls(
  engine: CalledEngine,
  subnetIds: readonly Principal[] = [],
): InProcessCalls {
  const calls: InProcessCalls = {
    createCanister: async ({ controllers, cycles, id, subnet } = {}) => {
      const created = engine.create({
        subnet: subnet === undefined ? undefined : numberOf(subnetIds, subnet),
        controllers: controllers?.map(toPrincipal) ?? [Principal.anonymous()],
        cycles: cycles ?? defaultCycles,
        ...(id === undefined ? {} : { id: toPrincipal(id) }),
      });
      if ('status' in created) throw new RejectError(created);
      return created;
    },
    install: async (canisterId, module, arg = noArguments, options = {}) => {
      const { mode = 'install', sender, ...upgrade } = options;
      const target = { canisterId: toPrincipal(canisterId), sender: senderOf(sender) };
      throwReject(await engine.install({ ...target, mode, module, arg, upgrade }));
    },
    upgrade: (canisterId, module, arg, options) =>
      calls.install(canisterId, module, arg, { ...options, mode: 'upgrade' }),
    call: async (canisterId, method, arg = noArguments, { sender } = {}) => {
      const message = messageOf({ canisterId, method, arg, sender });
      throwReject(await engine.checkIngress(message));
      return replyOf(await engine.update(message));
    },
    query: async (canisterId, method, arg = noArguments, { sender } = {}) =>
      replyOf(await engine.query(messageOf({ canisterId, method, arg, sender }))),
  };
  return calls;
}

function numberOf(subnetIds: readonly Principal[], subnet: PrincipalLike): number {
  const id = toPrincipal(subnet);
  const number = subnetIds.findIndex((one) => one.compareTo(id) === 'eq');
  if (number >= 0) return number;
  const known = subnetIds.map((one) => one.toText()).join(', ');
  throw new Error(`The subnet ${id.toText()} does not exist; use one of: ${known}.`);
}

/** Throws an Error for a text that is not a principal. */
export function toPrincipal(id: PrincipalLike): Principal {
  return typeof id === 'string' ? Principal.fromText(id) : id;
}

function senderOf(sender: PrincipalLike | undefined): Principal {
  return sender === undefined ? Principal.anonymous() : toPrincipal(sender);
}

function messageOf(call: {
  readonly canisterId: PrincipalLike;
  readonly method: string;
  readonly arg: Uint8Array;
  readonly sender: PrincipalLike | undefined;
}): CallMessage {
  const { method, arg } = call;
  return { sender: senderOf(call.sender), canisterId: toPrincipal(call.canisterId), method, arg };
}

function throwReject(reject: Reject | undefined): void {
  if (reject !== undefined) throw new RejectError(reject);
}

function replyOf(outcome: Outcome): Uint8Array {
  if (outcome.status === 'rejected') throw new RejectError(outcome);
  return outcome.arg;
}
