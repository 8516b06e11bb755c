// A proxy canister as the console of cloud engines deploys it: it runs on an ordinary subnet, and
// passes calls of the engine's canisters on, with cycles of its own. Of the methods that derive keys,
// it knows those of vetKD: it puts one byte with the length of its caller's id, and the id, before the
// context, and asks only for its own public keys. `dfinity/icskills` skills/cloud-engine-canisters.

import {
  call,
  canisterCycleBalance,
  IDL,
  init,
  isController,
  msgCaller,
  Principal,
  update,
} from 'azle';

const Blob = IDL.Vec(IDL.Nat8);
const Range = IDL.Record({ start: IDL.Principal, end: IDL.Principal });
const ProxyArgs = IDL.Record({
  canister_id: IDL.Principal,
  method: IDL.Text,
  args: Blob,
  cycles: IDL.Nat,
});
const ProxyResult = IDL.Variant({
  Ok: IDL.Record({ result: Blob }),
  Err: IDL.Variant({
    InsufficientCycles: IDL.Record({ available: IDL.Nat, required: IDL.Nat }),
    CallFailed: IDL.Record({ reason: IDL.Text }),
    UnauthorizedUser: IDL.Null,
  }),
});
const KeyId = IDL.Record({ curve: IDL.Variant({ bls12_381_g2: IDL.Null }), name: IDL.Text });
const rewritten: Readonly<Record<string, IDL.RecordClass>> = {
  vetkd_derive_key: IDL.Record({
    input: Blob,
    context: Blob,
    transport_public_key: Blob,
    key_id: KeyId,
  }),
  vetkd_public_key: IDL.Record({
    canister_id: IDL.Opt(IDL.Principal),
    context: Blob,
    key_id: KeyId,
  }),
};

/** Somewhat more than a call takes from the balance until its answer. */
const callCycles = 43_000_000_000n;

interface Arguments {
  readonly canister_id: Principal;
  readonly method: string;
  readonly args: Uint8Array;
  readonly cycles: bigint;
}

let ranges: readonly { readonly start: Principal; readonly end: Principal }[] = [];

export default class {
  @init([IDL.Vec(Range)])
  start(allowed: typeof ranges): void {
    ranges = allowed;
  }

  @update([ProxyArgs], ProxyResult)
  async proxy({ canister_id, method, args, cycles }: Arguments): Promise<object> {
    const caller = msgCaller();
    if (!isAllowed(caller)) return { Err: { UnauthorizedUser: null } };
    const balance = canisterCycleBalance();
    const available = balance > callCycles ? balance - callCycles : 0n;
    if (available < cycles) return { Err: { InsufficientCycles: { available, required: cycles } } };
    try {
      const sent = canister_id.compareTo(Principal.managementCanister()) === 'eq';
      const result = await call<Uint8Array, Uint8Array>(canister_id, method, {
        raw: true,
        args: sent ? isolated(method, args, caller) : args,
        cycles,
      });
      return { Ok: { result } };
    } catch (error) {
      const { rejectMessage } = error as { readonly rejectMessage?: string };
      return { Err: { CallFailed: { reason: rejectMessage ?? String(error) } } };
    }
  }
}

function isAllowed(caller: Principal): boolean {
  const isIn = ({ start, end }: (typeof ranges)[number]) =>
    start.compareTo(caller) !== 'gt' && end.compareTo(caller) !== 'lt';
  return ranges.some(isIn) || isController(caller);
}

function isolated(method: string, args: Uint8Array, caller: Principal): Uint8Array {
  const type = rewritten[method];
  if (type === undefined) return args;
  const [asked] = IDL.decode([type], args) as unknown as [{ readonly context: Uint8Array }];
  const id = caller.toUint8Array();
  const context = Uint8Array.of(id.length, ...id, ...asked.context);
  const own = 'canister_id' in asked ? { canister_id: [] } : {};
  return new Uint8Array(IDL.encode([type], [{ ...asked, ...own, context }]));
}
