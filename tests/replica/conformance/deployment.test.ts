// Requests of a deployment tool before its canister exists: subnets, canister creation with cycles,
// and PocketIC's topology.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { Actor, HttpAgent } from '@icp-sdk/core/agent';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Replica } from '../../../packages/replica/src/index.ts';
import { startReplica } from '../../../packages/replica/src/index.ts';
import { canisterSettings } from '../../../packages/replica/src/management/candid-types.ts';

let replica: Replica;
let agent: HttpAgent;
beforeAll(async () => {
  replica = await startReplica();
  agent = await HttpAgent.create({ host: replica.url, shouldFetchRootKey: true });
});
afterAll(() => replica.stop());

const mintingId = 'rkp4c-7iaaa-aaaaa-aaaca-cai';
const ledgerId = 'um5iw-rqaaa-aaaaq-qaaba-cai';

// biome-ignore lint/suspicious/noExplicitAny: the package's own IDL, of the same shape.
const interfaces: any = () =>
  IDL.Service({
    get_default_subnets: IDL.Func([], [IDL.Vec(IDL.Principal)], ['query']),
    create_canister: IDL.Func(
      [
        IDL.Record({
          from_subaccount: IDL.Opt(IDL.Vec(IDL.Nat8)),
          created_at_time: IDL.Opt(IDL.Nat64),
          amount: IDL.Nat,
          creation_args: IDL.Opt(
            IDL.Record({
              subnet_selection: IDL.Opt(
                IDL.Variant({ Subnet: IDL.Record({ subnet: IDL.Principal }) }),
              ),
              settings: IDL.Opt(canisterSettings),
            }),
          ),
        }),
      ],
      [
        IDL.Variant({
          Ok: IDL.Record({ block_id: IDL.Nat, canister_id: IDL.Principal }),
          Err: IDL.Variant({ FailedToCreate: IDL.Record({ error: IDL.Text }) }),
        }),
      ],
      [],
    ),
    icrc1_fee: IDL.Func([], [IDL.Nat], ['query']),
  });

// biome-ignore lint/suspicious/noExplicitAny: an actor has the methods of its interface.
const actorOf = (canisterId: string, by = agent): any =>
  Actor.createActor(interfaces, { agent: by, canisterId });

async function topology() {
  return (await fetch(`${replica.url}/_/topology`)).json();
}

describe('dfinity/icp-cli crates/icp-cli/src/operations/create.rs: a canister is created', () => {
  test('on a default subnet of the cycles minting canister', async () => {
    const [subnet] = await actorOf(mintingId).get_default_subnets();
    expect(Object.keys((await topology()).subnet_configs)).toEqual([String(subnet)]);
  });

  test('by the cycles ledger, for the caller, with the requested settings and cycles', async () => {
    const creation = [{ subnet_selection: [], settings: [] }];
    const asked = { from_subaccount: [], created_at_time: [], creation_args: creation };
    const made = await actorOf(ledgerId).create_canister({ ...asked, amount: 2n * 10n ** 12n });
    const id = String(made.Ok.canister_id);
    const canister = replica.canisters().find((one) => one.id.toText() === id);
    expect(canister?.controllers.map(String)).toEqual([Principal.anonymous().toText()]);
    expect(canister?.cycles).toBe(15n * 10n ** 11n);
    const poor = await actorOf(ledgerId).create_canister({ ...asked, amount: 1n });
    expect(poor.Err.FailedToCreate.error).toContain('Insufficient cycles');
  });

  test('by the cycles ledger on the selected subnet, which must exist', async () => {
    const several = await startReplica({ subnets: 2 });
    try {
      const host = several.url;
      const caller = await HttpAgent.create({ host, shouldFetchRootKey: true });
      const subnets = await actorOf(mintingId, caller).get_default_subnets();
      expect(subnets.map(String)).toEqual(several.subnets.map(String));
      const createOn = (subnet: Principal) =>
        actorOf(ledgerId, caller).create_canister({
          ...{ from_subaccount: [], created_at_time: [], amount: 2n * 10n ** 12n },
          creation_args: [{ subnet_selection: [{ Subnet: { subnet } }], settings: [] }],
        });
      const { Ok } = await createOn(subnets[1]);
      expect(Ok.canister_id.toHex().toLowerCase()).toBe('00000000002000000101');
      const { Err } = await createOn(Principal.anonymous());
      expect(Err.FailedToCreate.error).toContain('Subnet 2vxsx-fae does not exist; use one of');
    } finally {
      await several.stop();
    }
  });

  test('and other methods of these canisters on the network are reported as missing', async () => {
    await expect(actorOf(ledgerId).icrc1_fee()).rejects.toThrow("no query method 'icrc1_fee'");
  });

  test('and a new canister gets one of these two ids only if it is requested', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, () => replica.createCanister()));
    expect(ids.map(String)).not.toContain(mintingId);
    expect(String(await replica.createCanister({ id: ledgerId }))).toBe(ledgerId);
    await expect(actorOf(ledgerId).icrc1_fee()).rejects.toThrow('no Wasm module');
  });
});

describe('dfinity/ic packages/pocket-ic/src/common/rest.rs: Topology', () => {
  test('names the subnet, its canister ranges and the canister id that addresses creations', async () => {
    const found = await topology();
    const [[id, subnet]] = Object.entries<Record<string, unknown>>(found.subnet_configs) as [
      [string, Record<string, unknown>],
    ];
    expect(Principal.fromText(id).toText()).toBe(id);
    expect(subnet).toMatchObject({
      subnet_kind: 'Application',
      instruction_config: 'Production',
      canister_ranges: [
        { start: { canister_id: 'AAAAAAAAAAABAQ==' }, end: { canister_id: '//////////8BAQ==' } },
      ],
    });
    expect(found.default_effective_canister_id).toEqual({ canister_id: 'AAAAAAAAAAABAQ==' });
  });

  test('lists the root subnet and the others, and creates canisters on the first of these', async () => {
    const several = await startReplica({ subnets: 2 });
    const found = await (await fetch(`${several.url}/_/topology`)).json();
    await several.stop();
    const kinds = Object.values(found.subnet_configs as Record<string, { subnet_kind: string }>);
    expect(kinds.map((one) => one.subnet_kind)).toEqual(['NNS', 'Application', 'Application']);
    expect(Object.keys(found.subnet_configs).slice(1)).toEqual(several.subnets.map(String));
    const first = Buffer.from(found.default_effective_canister_id.canister_id, 'base64');
    expect(first.toString('hex')).toBe('00000000001000000101');
  });

  test('is read-only', async () => {
    const answer = await fetch(`${replica.url}/_/topology`, { method: 'POST' });
    expect(answer.status).toBe(405);
  });
});
