import * as dfinity from '@dfinity/agent';
import { IDL } from '@dfinity/candid';
import type { Principal } from '@dfinity/principal';
import * as icp from '@icp-sdk/core/agent';
import {
  Delegation,
  DelegationChain,
  DelegationIdentity,
  ECDSAKeyIdentity,
  Ed25519KeyIdentity,
} from '@icp-sdk/core/identity';
import { Secp256k1KeyIdentity } from '@icp-sdk/core/identity/secp256k1';
import { Principal as IcpPrincipal } from '@icp-sdk/core/principal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signedBytes } from '../../../packages/replica/src/agent/request-id.ts';
import { acceptAgain, acceptNone } from '../../support/known-signatures.ts';
import { canisterKey, canisterSignature, signatureTree } from './canister-key.ts';
import type { TestReplica } from './test-replica.ts';
import { startTestReplica } from './test-replica.ts';

let replica: TestReplica;

beforeAll(acceptNone);
afterAll(acceptAgain);
beforeAll(async () => {
  replica = await startTestReplica({ offsetNs: 0n });
});

afterAll(() => replica.close());

const arg = Uint8Array.from(Buffer.from('DIDL\x00\x01\x71\x03abc', 'latin1'));
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('latin1');

/** The newer agent, with its default checks of certificates and query signatures. */
function icpAgent(options: icp.HttpAgentOptions = {}): Promise<icp.HttpAgent> {
  return icp.HttpAgent.create({ host: replica.url, shouldFetchRootKey: true, ...options });
}

function dfinityAgent(options: dfinity.HttpAgentOptions = {}): Promise<dfinity.HttpAgent> {
  return dfinity.HttpAgent.create({ host: replica.url, shouldFetchRootKey: true, ...options });
}

async function delegated(): Promise<DelegationIdentity> {
  const owner = Ed25519KeyIdentity.generate();
  const session = Secp256k1KeyIdentity.generate();
  const expiration = new Date(Date.now() + 600_000);
  const targets = [IcpPrincipal.fromText(replica.canisterId.toText())];
  const chain = await DelegationChain.create(owner, session.getPublicKey(), expiration, {
    targets,
  });
  return DelegationIdentity.fromDelegation(session, chain);
}

interface SubnetFacts {
  readonly subnetId: string;
  readonly nodeKeys: ReadonlyMap<string, Uint8Array>;
}

const identities = {
  Ed25519: async () => Ed25519KeyIdentity.generate(),
  secp256k1: async () => Secp256k1KeyIdentity.generate(),
  'P-256': async () => ECDSAKeyIdentity.generate(),
  delegated,
  anonymous: async () => new icp.AnonymousIdentity(),
} as const;

const identityNames = Object.keys(identities) as (keyof typeof identities)[];

describe.each(identityNames)('@icp-sdk/core as %s', (name) => {
  it('queries and updates under its own principal', async () => {
    const identity = await identities[name]();
    const agent = await icpAgent({ identity });
    const id = replica.canisterId.toText();
    const sender = identity.getPrincipal().toUint8Array();
    const query = await agent.query(id, { methodName: 'caller', arg });
    expect(query.status === 'replied' && Buffer.from(query.reply.arg)).toEqual(Buffer.from(sender));
    const update = await agent.update(id, { methodName: 'caller', arg });
    expect(Buffer.from(update.reply ?? [])).toEqual(Buffer.from(sender));
  });
});

describe.each(identityNames)('@dfinity/agent as %s', (name) => {
  it('queries and updates under its own principal', async () => {
    const identity = (await identities[name]()) as unknown as dfinity.Identity;
    const agent = await dfinityAgent({ identity });
    const sender = identity.getPrincipal().toUint8Array();
    const query = await agent.query(replica.canisterId, { methodName: 'caller', arg });
    expect(query.status === 'replied' && Buffer.from(query.reply.arg)).toEqual(Buffer.from(sender));
    const { reply } = await dfinityUpdate(agent, { methodName: 'caller', arg });
    expect(Buffer.from(reply)).toEqual(Buffer.from(sender));
  });
});

/** Calls synchronously (v3) or not (v2), and polls in both cases: the answers must be equal. */
async function dfinityUpdate(
  agent: dfinity.HttpAgent,
  fields: { methodName: string; arg: Uint8Array; callSync?: boolean },
): Promise<{ reply: Uint8Array; status: number }> {
  const { requestId, response } = await agent.call(replica.canisterId, fields);
  const { pollForResponse, defaultStrategy } = dfinity.polling;
  const { reply } = await pollForResponse(agent, replica.canisterId, requestId, {
    strategy: defaultStrategy(),
  });
  return { reply, status: response.status };
}

describe('update', () => {
  it('by @dfinity/agent over v3 and v2 gets the same answer', async () => {
    const agent = await dfinityAgent();
    const sync = await dfinityUpdate(agent, { methodName: 'echo', arg });
    expect([sync.status, text(sync.reply)]).toEqual([200, text(arg)]);
    const polled = await dfinityUpdate(agent, { methodName: 'echo', arg, callSync: false });
    expect([polled.status, text(polled.reply)]).toEqual([202, text(arg)]);
  });

  it('of 2 MB transfers its argument in both directions', async () => {
    const large = new Uint8Array(2_000_000).fill(7);
    const agent = await icpAgent();
    const id = replica.canisterId.toText();
    const { reply } = await agent.update(id, { methodName: 'echo', arg: large });
    expect(Buffer.compare(Buffer.from(reply ?? []), large)).toBe(0);
  });

  it('gets its own answer when many are sent at a time', async () => {
    const agent = await icpAgent();
    const id = replica.canisterId.toText();
    const texts = Array.from({ length: 40 }, (_, index) => `call ${index}`);
    const replies = await Promise.all(
      texts.map((name) => agent.update(id, { methodName: 'echo', arg: Buffer.from(name) })),
    );
    expect(replies.map(({ reply }) => text(reply))).toEqual(texts);
  });

  it('rejected by the canister reports code and message', async () => {
    const agent = await icpAgent();
    const id = replica.canisterId.toText();
    const update = agent.update(id, { methodName: 'trap', arg });
    await expect(update).rejects.toThrow(/it trapped/);
    const query = await agent.query(id, { methodName: 'trap', arg });
    expect(query.status === 'rejected' && [query.reject_code, query.error_code]).toEqual([
      5,
      'IC0503',
    ]);
  });

  it('refused at ingress is reported as an uncertified reject', async () => {
    const agent = await icpAgent();
    const id = replica.canisterId.toText();
    const update = agent.update(id, { methodName: 'refused', arg });
    await expect(update).rejects.toThrow(/reject.*(accept|inspect)/is);
  });
});

describe('certified data', () => {
  it('set by an update is certified in the next query', async () => {
    const agent = await dfinityAgent();
    const digest = new Uint8Array(32).fill(9);
    await dfinityUpdate(agent, { methodName: 'certify', arg: digest });
    const { canisterId, certification } = replica;
    const query = await agent.query(canisterId, { methodName: 'certificate', arg });
    if (query.status !== 'replied') throw new Error(query.reject_message);
    const rootKey = certification.rootKey();
    const certificate = await dfinity.Certificate.create({
      certificate: query.reply.arg,
      rootKey,
      canisterId,
    });
    const path = ['canister', canisterId.toUint8Array(), 'certified_data'];
    const result = certificate.lookup_path(path);
    expect('value' in result && Buffer.from(result.value as Uint8Array)).toEqual(
      Buffer.from(digest),
    );
  });
});

describe('an identity that a canister vouches for', () => {
  it('acts through a delegation with a canister signature', async () => {
    const session = Ed25519KeyIdentity.generate();
    const seed = Buffer.from('anchor 10000');
    const publicKey = canisterKey(replica.canisterId, seed);
    const until = BigInt(Date.now() + 600_000) * 1_000_000n;
    const delegation = new Delegation(session.getPublicKey().toDer(), until);
    const hashable = new Map(Object.entries({ pubkey: delegation.pubkey, expiration: until }));
    const message = signedBytes('ic-request-auth-delegation', hashable);
    const tree = signatureTree(seed, message);
    const agent = await icpAgent();
    const id = replica.canisterId.toText();
    await agent.update(id, { methodName: 'certify', arg: new Uint8Array(tree.hash) });
    const query = await agent.query(id, { methodName: 'certificate', arg });
    if (query.status !== 'replied') throw new Error(query.reject_message);
    const signature = canisterSignature(tree, query.reply.arg);
    const chain = DelegationChain.fromDelegations(
      [{ delegation, signature: Object.assign(signature, { __signature__: undefined }) }],
      Object.assign(publicKey, { __derEncodedPublicKey__: undefined }),
    );
    const identity = DelegationIdentity.fromDelegation(session, chain);
    const known = await icpAgent({ identity });
    const { reply } = await known.update(id, { methodName: 'caller', arg });
    expect(Buffer.from(reply ?? [])).toEqual(Buffer.from(identity.getPrincipal().toUint8Array()));
  });
});

describe('management canister', () => {
  it('answers at the endpoint of the canister that a call concerns', async () => {
    const agent = await icpAgent({ retryTimes: 0 });
    const canisterId = IcpPrincipal.fromText(replica.canisterId.toText());
    const argument = Uint8Array.from(
      IDL.encode(
        [IDL.Record({ canister_id: IDL.Principal })],
        [{ canister_id: replica.canisterId }],
      ),
    );
    const fields = { methodName: 'canister_status', arg: argument };
    const { reply } = await agent.update('aaaaa-aa', {
      ...fields,
      effectiveCanisterId: canisterId,
    });
    expect(reply?.length).toBeGreaterThan(100);
    const elsewhere = agent.update('aaaaa-aa', {
      ...fields,
      effectiveCanisterId: IcpPrincipal.fromHex('00000000000000990101'),
    });
    await expect(elsewhere).rejects.toThrow(/does not match effective canister id in URL/);
  });
});

describe('canister status', () => {
  it('by both agents shows time, controllers, module hash, candid and subnet', async () => {
    const paths = ['time', 'controllers', 'module_hash', 'candid', 'subnet'] as const;
    const { canisterId, certification } = replica;
    const old = await dfinity.CanisterStatus.request({
      agent: await dfinityAgent(),
      canisterId,
      paths: [...paths],
    });
    const recent = await icp.CanisterStatus.request({
      agent: await icpAgent(),
      canisterId: IcpPrincipal.fromText(canisterId.toText()),
      paths: [...paths],
    });
    for (const status of [old, recent]) {
      expect(status.get('module_hash')).toMatch(/^[0-9a-f]{64}$/);
      expect(status.get('candid')).toBe('service : {}');
      expect(Math.abs(Number(status.get('time')) - Date.now())).toBeLessThan(600_000);
      expect(status.get('controllers')).toHaveLength(1);
      const { subnetId, nodeKeys } = status.get('subnet') as SubnetFacts;
      expect(subnetId).toBe(certification.subnetId.toText());
      expect([...nodeKeys.keys()]).toEqual([certification.nodeKey.nodeId.toText()]);
    }
  });

  it('of the subnet can be read at its own endpoint', async () => {
    const agent = await icpAgent();
    const subnetId = IcpPrincipal.fromText(replica.certification.subnetId.toText());
    const status = await icp.SubnetStatus.request({
      agent,
      subnetId,
      paths: ['time', 'canisterRanges', 'publicKey', 'nodeKeys'],
    });
    expect(status.get('publicKey')).toEqual(replica.certification.rootKey());
    const [range] = status.get('canisterRanges') as unknown as [Principal, Principal][];
    expect(range?.map((id) => id.toHex().toLowerCase())).toEqual([
      '00000000000000000101',
      'ffffffffffffffff0101',
    ]);
  });
});

describe('an agent rejects', () => {
  it('a request with a wrong signature, with the reason', async () => {
    const identity = Ed25519KeyIdentity.generate();
    identity.sign = async () => Object.assign(new Uint8Array(64), { __signature__: undefined });
    const agent = await icpAgent({ identity, retryTimes: 0 });
    const id = replica.canisterId.toText();
    await expect(agent.query(id, { methodName: 'echo', arg })).rejects.toThrow(
      /Failed to authenticate request [0-9a-f]{64} due to: Invalid signature/,
    );
  });

  it('a delegation to another canister', async () => {
    const owner = Ed25519KeyIdentity.generate();
    const session = Ed25519KeyIdentity.generate();
    const targets = [IcpPrincipal.fromHex('00000000000000990101')];
    const soon = new Date(Date.now() + 600_000);
    const chain = await DelegationChain.create(owner, session.getPublicKey(), soon, { targets });
    const identity = DelegationIdentity.fromDelegation(session, chain);
    const agent = await icpAgent({ identity, retryTimes: 0 });
    const id = replica.canisterId.toText();
    await expect(agent.update(id, { methodName: 'echo', arg })).rejects.toThrow(
      /not one of the delegation targets/,
    );
  });

  it('an answer under another root key', async () => {
    const other = await startTestReplica({ offsetNs: 0n });
    try {
      const { rootKey } = await dfinityAgent();
      const host = other.url;
      const agent = await icpAgent({ host, shouldFetchRootKey: false, rootKey: rootKey ?? arg });
      const id = other.canisterId.toText();
      await expect(agent.update(id, { methodName: 'echo', arg })).rejects.toThrow(/signature/i);
      await expect(agent.query(id, { methodName: 'echo', arg })).rejects.toThrow(/signature/i);
    } finally {
      await other.close();
    }
  });
});

describe('an agent whose clock is an hour behind', () => {
  it('gets an error, asks for the time and then succeeds', async () => {
    const ahead = await startTestReplica({ offsetNs: 3_600_000_000_000n });
    try {
      const agent = await icpAgent({ host: ahead.url });
      const id = ahead.canisterId.toText();
      const { reply } = await agent.update(id, { methodName: 'echo', arg });
      expect(text(reply)).toBe(text(arg));
      expect(agent.hasSyncedTime()).toBe(true);
    } finally {
      await ahead.close();
    }
  });
});
