// Certificates with a delegation of the root subnet, as both official agents and the official
// verifier check them.

import * as dfinity from '@dfinity/agent';
import type { Principal } from '@dfinity/principal';
import * as icp from '@icp-sdk/core/agent';
import {
  Delegation,
  DelegationChain,
  DelegationIdentity,
  Ed25519KeyIdentity,
} from '@icp-sdk/core/identity';
import { Principal as IcpPrincipal } from '@icp-sdk/core/principal';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedBytes } from '../../../packages/replica/src/agent/request-id.ts';
import { type Replica, startReplica } from '../../../packages/replica/src/replica.ts';
import { decodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';
import { acceptAgain, acceptNone } from '../../support/known-signatures.ts';
import { canisterKey, canisterSignature, signatureTree } from '../agent/canister-key.ts';
import { testCanister } from '../agent/test-canister.ts';

const arg = Uint8Array.from({ length: 32 }, (_, index) => index);
const notCovered = /a delegation that does not include the canister/;
let replica: Replica;
let first: Principal;
let second: Principal;

beforeAll(acceptNone);
afterAll(acceptAgain);
beforeAll(async () => {
  replica = await startReplica({ subnets: 2 });
  const install = async (subnet: Principal | undefined) => {
    const id = await replica.createCanister(subnet ? { subnet } : {});
    await replica.install(id, testCanister());
    return id;
  };
  first = await install(replica.subnets[0]);
  second = await install(replica.subnets[1]);
});
afterAll(() => replica.stop());

const icpAgent = (options: icp.HttpAgentOptions = {}) =>
  icp.HttpAgent.create({ host: replica.url, shouldFetchRootKey: true, retryTimes: 0, ...options });
const dfinityAgent = (options: dfinity.HttpAgentOptions = {}) =>
  dfinity.HttpAgent.create({
    host: replica.url,
    shouldFetchRootKey: true,
    retryTimes: 0,
    ...options,
  });

/** Returns the fields of a certificate, or of its delegation. */
function fieldsOf(certificate: unknown): ReadonlyMap<string, unknown> {
  return decodeSelfDescribed(certificate as Uint8Array) as ReadonlyMap<string, unknown>;
}

function subnetIdOf(certificate: Uint8Array): string {
  const delegation = fieldsOf(certificate).get('delegation') as ReadonlyMap<string, Uint8Array>;
  return Buffer.from(delegation.get('subnet_id') ?? []).toString('hex');
}

async function dataCertificate(id: Principal): Promise<Uint8Array> {
  return replica.query(id, 'certificate');
}

/** Returns a fetch function that sends requests about one canister to another's subnet. */
function misdirected(from: Principal, to: Principal): typeof fetch {
  return (input, init) => fetch(String(input).replace(from.toText(), to.toText()), init);
}

describe('startReplica({ subnets: 2 })', () => {
  test('gives each subnet ids of its own range', () => {
    expect([first, second].map((id) => id.toHex().toLowerCase())).toEqual([
      '00000000001000000101',
      '00000000002000000101',
    ]);
  });

  test('certifies by two subnets, whose delegations the same root key signs', async () => {
    const ids = await Promise.all([first, second].map(dataCertificate)).then((certificates) =>
      certificates.map(subnetIdOf),
    );
    expect(ids).toEqual(replica.subnets.map((id) => id.toHex().toLowerCase()));
  });

  test('refuses a number of subnets that is out of range', async () => {
    for (const subnets of [-1, 17, 1.5]) {
      await expect(startReplica({ subnets, server: false })).rejects.toThrow(
        `The number of subnets must be 0 to 16; got ${subnets}.`,
      );
    }
  });

  test('createCanister refuses a subnet that does not exist', async () => {
    const made = replica.createCanister({ subnet: first });
    await expect(made).rejects.toThrow(/The subnet .* does not exist; use one of: /);
  });
});

describe('@icp-sdk/core', () => {
  test('accepts updates, polled updates, queries and read_state of each subnet', async () => {
    const agent = await icpAgent();
    for (const id of [first.toText(), second.toText()]) {
      const update = await agent.update(id, { methodName: 'echo', arg });
      expect(update.reply).toEqual(arg);
      const query = await agent.query(id, { methodName: 'echo', arg });
      expect('reply' in query && query.reply.arg).toEqual(arg);
      const canisterId = IcpPrincipal.fromText(id);
      const paths = ['module_hash', 'subnet'] as const;
      const status = await icp.CanisterStatus.request({ agent, canisterId, paths: [...paths] });
      expect(status.get('module_hash')).toMatch(/^[0-9a-f]{64}$/);
    }
  });

  test('reads the status of each subnet at its own endpoint', async () => {
    const agent = await icpAgent();
    for (const [number, subnet] of replica.subnets.entries()) {
      const subnetId = IcpPrincipal.fromText(subnet.toText());
      const paths = ['publicKey', 'canisterRanges', 'nodeKeys'] as const;
      const status = await icp.SubnetStatus.request({ agent, subnetId, paths: [...paths] });
      const [range] = status.get('canisterRanges') as unknown as [Principal, Principal][];
      const begin = `0000000000${number + 1}`;
      expect(range?.map((id) => id.toHex().toLowerCase())).toEqual([
        `${begin}000000101`,
        `${begin}fffff0101`,
      ]);
    }
  });

  test('refuses a valid certificate of a subnet that does not have the canister', async () => {
    const certificate = await dataCertificate(first);
    const check = (id: Principal) =>
      icp.Certificate.create({
        certificate,
        rootKey: replica.rootKey,
        principal: { canisterId: IcpPrincipal.fromText(id.toText()) },
      });
    await check(first);
    await expect(check(second)).rejects.toThrow(notCovered);
    const agent = await icpAgent({ fetch: misdirected(second, first) });
    const canisterId = IcpPrincipal.fromText(second.toText());
    const paths = [[new TextEncoder().encode('time')]];
    await expect(agent.readState({ canisterId }, { paths })).rejects.toThrow(notCovered);
  });
});

describe('@dfinity/agent', () => {
  test('accepts updates, polled updates, queries and read_state of each subnet', async () => {
    const agent = await dfinityAgent();
    for (const id of [first, second]) {
      for (const callSync of [true, false]) {
        const { requestId } = await agent.call(id, { methodName: 'echo', arg, callSync });
        const { reply } = await dfinity.polling.pollForResponse(agent, id, requestId);
        expect(reply).toEqual(arg);
      }
      const query = await agent.query(id, { methodName: 'echo', arg });
      expect('reply' in query && query.reply.arg).toEqual(arg);
      const paths = ['module_hash', 'subnet'] as const;
      const status = await dfinity.CanisterStatus.request({
        agent,
        canisterId: id,
        paths: [...paths],
      });
      const subnet = status.get('subnet') as { subnetId: string };
      expect(replica.subnets.map((one) => one.toText())).toContain(subnet.subnetId);
    }
  });

  test('refuses a valid certificate of a subnet that does not have the canister', async () => {
    const certificate = await dataCertificate(second);
    const check = (canisterId: Principal) =>
      dfinity.Certificate.create({ certificate, rootKey: replica.rootKey, canisterId });
    await check(second);
    await expect(check(first)).rejects.toThrow(notCovered);
  });
});

describe('an identity that a canister of one subnet vouches for', () => {
  async function identityOf(signer: Principal, certifier: Principal) {
    const session = Ed25519KeyIdentity.generate();
    const seed = Buffer.from('anchor 10000');
    const until = BigInt(Date.now() + 600_000) * 1_000_000n;
    const delegation = new Delegation(session.getPublicKey().toDer(), until);
    const hashable = new Map(Object.entries({ pubkey: delegation.pubkey, expiration: until }));
    const tree = signatureTree(seed, signedBytes('ic-request-auth-delegation', hashable));
    await replica.call(certifier, 'certify', new Uint8Array(tree.hash));
    const signature = canisterSignature(tree, await dataCertificate(certifier));
    const chain = DelegationChain.fromDelegations(
      [{ delegation, signature: Object.assign(signature, { __signature__: undefined }) }],
      Object.assign(canisterKey(signer, seed), { __derEncodedPublicKey__: undefined }),
    );
    return DelegationIdentity.fromDelegation(session, chain);
  }

  test('acts on another subnet', async () => {
    const identity = await identityOf(first, first);
    const agent = await icpAgent({ identity });
    const { reply } = await agent.update(second.toText(), { methodName: 'caller', arg });
    expect(reply).toEqual(identity.getPrincipal().toUint8Array());
  });

  test('is refused if another subnet certifies the signature', async () => {
    const agent = await icpAgent({ identity: await identityOf(first, second) });
    const update = agent.update(second.toText(), { methodName: 'caller', arg });
    await expect(update).rejects.toThrow(/Invalid delegation/);
  });
});
