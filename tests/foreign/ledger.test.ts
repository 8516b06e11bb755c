// An ICRC-1 ledger: after a kill and after an upgrade it has exactly the minted and transferred
// tokens. Types: ICRC-1 standard, and `LedgerArg` of DFINITY's ledger suite.

import { Actor, type Identity } from '@dfinity/agent';
import { IDL } from '@dfinity/candid';
import { Ed25519KeyIdentity } from '@icp-sdk/core/identity';
import { describe, expect, test } from 'vitest';
import { type ForeignCanister, openForeign } from './support/foreign-canister.ts';
import { foreignFiles } from './support/foreign-files.ts';

const fee = 10_000n;
const account = IDL.Record({ owner: IDL.Principal, subaccount: IDL.Opt(IDL.Vec(IDL.Nat8)) });
const archiveOptions = IDL.Record({
  num_blocks_to_archive: IDL.Nat64,
  trigger_threshold: IDL.Nat64,
  controller_id: IDL.Principal,
});
const initArgs = IDL.Record({
  minting_account: account,
  transfer_fee: IDL.Nat,
  token_symbol: IDL.Text,
  token_name: IDL.Text,
  metadata: IDL.Vec(IDL.Tuple(IDL.Text, IDL.Variant({ Nat: IDL.Nat }))),
  initial_balances: IDL.Vec(IDL.Tuple(account, IDL.Nat)),
  archive_options: archiveOptions,
});
const ledgerArg = IDL.Variant({ Init: initArgs, Upgrade: IDL.Opt(IDL.Record({})) });
const transferResult = IDL.Variant({
  Ok: IDL.Nat,
  Err: IDL.Variant({ InsufficientFunds: IDL.Record({ balance: IDL.Nat }) }),
});

const ledgerInterface: IDL.InterfaceFactory = () =>
  IDL.Service({
    icrc1_symbol: IDL.Func([], [IDL.Text], ['query']),
    icrc1_total_supply: IDL.Func([], [IDL.Nat], ['query']),
    icrc1_balance_of: IDL.Func([account], [IDL.Nat], ['query']),
    icrc1_transfer: IDL.Func([IDL.Record({ to: account, amount: IDL.Nat })], [transferResult], []),
  });

interface Ledger {
  icrc1_symbol(): Promise<string>;
  icrc1_total_supply(): Promise<bigint>;
  icrc1_balance_of(account: unknown): Promise<bigint>;
  icrc1_transfer(arg: unknown): Promise<Record<string, unknown>>;
}

const person = () => Ed25519KeyIdentity.generate() as unknown as Identity;
const accountOf = (who: Identity) => ({ owner: who.getPrincipal(), subaccount: [] });

async function ledgerAs(canister: ForeignCanister, who: Identity): Promise<Ledger> {
  const agent = await canister.agent(who);
  return Actor.createActor<Ledger & Record<string, never>>(ledgerInterface, {
    agent,
    canisterId: canister.id,
  });
}

const [first, second] = [person(), person()];

/** The owner's account mints; the first holder starts with a million. */
function initOf(owner: Identity): Uint8Array {
  const init = {
    minting_account: accountOf(owner),
    transfer_fee: fee,
    token_symbol: 'XYZ',
    token_name: 'A token',
    metadata: [],
    initial_balances: [[accountOf(first), 1_000_000n]],
    archive_options: {
      num_blocks_to_archive: 1_000n,
      trigger_threshold: 2_000n,
      controller_id: owner.getPrincipal(),
    },
  };
  return new Uint8Array(IDL.encode([ledgerArg], [{ Init: init }]));
}

async function balances(canister: ForeignCanister): Promise<readonly bigint[]> {
  const ledger = await ledgerAs(canister, second);
  return [
    await ledger.icrc1_balance_of(accountOf(first)),
    await ledger.icrc1_balance_of(accountOf(second)),
    await ledger.icrc1_total_supply(),
  ];
}

describe.each(foreignFiles('ledger'))('%s', (path) => {
  test('keeps its balances through kills and an upgrade', { timeout: 300_000 }, async () => {
    const canister = await openForeign(path, initOf);
    try {
      expect(await (await ledgerAs(canister, first)).icrc1_symbol()).toBe('XYZ');
      expect(await balances(canister)).toEqual([1_000_000n, 0n, 1_000_000n]);
      const minted = { to: accountOf(second), amount: 500_000n };
      await (await ledgerAs(canister, canister.owner)).icrc1_transfer(minted);
      await canister.killAndStart();
      const paid = { to: accountOf(second), amount: 100_000n };
      const done = await (await ledgerAs(canister, first)).icrc1_transfer(paid);
      expect(done).toHaveProperty('Ok');
      await canister.killAndStart();
      // The ledger burns the fee.
      const after = [1_000_000n - 100_000n - fee, 600_000n, 1_500_000n - fee];
      expect(await balances(canister)).toEqual(after);
      const tooMuch = { to: accountOf(first), amount: 10_000_000n };
      const refused = await (await ledgerAs(canister, second)).icrc1_transfer(tooMuch);
      expect(refused).toHaveProperty('Err.InsufficientFunds.balance', 600_000n);
      await canister.killAndUpgrade(new Uint8Array(IDL.encode([ledgerArg], [{ Upgrade: [] }])));
      expect(await balances(canister)).toEqual(after);
    } finally {
      await canister.close();
    }
  });
});
