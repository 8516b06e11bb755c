import { createPublicKey, verify } from 'node:crypto';
import { Certificate } from '@dfinity/agent';
import { Principal } from '@dfinity/principal';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CanisterView, Engine } from '../../../packages/replica/src/core.ts';
import { createCertification } from '../../../packages/replica/src/state/certification.ts';
import { decodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';

const canisterId = Principal.fromHex('00000000000000070101');
const seed = new Uint8Array(32).fill(9);
const label = (text: string): Uint8Array => Buffer.from(text);

let nowNs = 0n;
let canister: CanisterView;

const engine: Engine = {
  now: () => nowNs,
  canister: (id) => (id.compareTo(canisterId) === 'eq' ? canister : undefined),
  canisters: () => [canister],
  checkIngress: async () => undefined,
  update: async () => ({ status: 'replied', arg: new Uint8Array() }),
  query: async () => ({ status: 'replied', arg: new Uint8Array() }),
};

beforeEach(() => {
  nowNs = BigInt(Date.now()) * 1_000_000n;
  canister = {
    id: canisterId,
    controllers: [Principal.anonymous()],
    status: 'running',
    moduleHash: new Uint8Array(32).fill(3),
    certifiedData: label('first'),
    version: 1n,
    cycles: 0n,
    heapBytes: 0,
    stableBytes: 0,
    metadata: new Map([['candid:service', { isPublic: true, content: label('service {}') }]]),
  };
});

const create = () => createCertification({ rootSecret: seed, engine: () => engine });

/** Verifies with the official agent, including signature and time. */
async function verified(certificate: Uint8Array, rootKey: Uint8Array): Promise<Certificate> {
  return Certificate.create({ certificate, rootKey, canisterId });
}

function read(certificate: Certificate, ...path: (string | Uint8Array)[]): unknown {
  const result = certificate.lookup_path(path);
  return 'value' in result ? Buffer.from(result.value as Uint8Array) : result.status;
}

describe('certify()', () => {
  it('creates certificates that the official agent verifies', async () => {
    const certification = create();
    expect(certification.rootKey()).toHaveLength(133);
    const id = canisterId.toUint8Array();
    const paths = ['module_hash', 'controllers', 'nothing'].map((name) => [
      label('canister'),
      id,
      label(name),
    ]);
    const certificate = await verified(certification.certify(paths), certification.rootKey());
    expect(read(certificate, 'canister', id, 'module_hash')).toEqual(Buffer.alloc(32, 3));
    expect(read(certificate, 'canister', id, 'controllers')).toEqual(
      Buffer.from('d9d9f7814104', 'hex'),
    );
    expect(read(certificate, 'canister', id, 'nothing')).toBe('Absent');
    expect(Buffer.from(certification.certify(paths)).includes('first')).toBe(false);
  });

  it('fails verification under another key', async () => {
    const other = createCertification({ rootSecret: undefined, engine: () => engine });
    await expect(verified(create().certify([]), other.rootKey())).rejects.toThrow(/signature/i);
  });

  it('derives the same keys from the same seed, and new ones without a seed', () => {
    const first = create();
    expect(create().rootKey()).toEqual(first.rootKey());
    expect(create().nodeKey.publicKey).toEqual(first.nodeKey.publicKey);
    const fresh = createCertification({ rootSecret: undefined, engine: () => engine });
    expect(fresh.rootKey()).not.toEqual(first.rootKey());
    expect(fresh.secretSeed).toHaveLength(32);
  });

  it('refuses a seed of another length', () => {
    const rootSecret = new Uint8Array(31);
    expect(() => createCertification({ rootSecret, engine: () => engine })).toThrow(/31 bytes/);
  });

  it('shows subnet key, node keys and ranges under /subnet', async () => {
    const certification = create();
    const subnetId = certification.subnetId.toUint8Array();
    const certificate = await verified(
      certification.certify([[label('subnet')]]),
      certification.rootKey(),
    );
    const { nodeKey } = certification;
    expect(read(certificate, 'subnet', subnetId, 'public_key')).toEqual(
      Buffer.from(certification.rootKey()),
    );
    expect(
      read(certificate, 'subnet', subnetId, 'node', nodeKey.nodeId.toUint8Array(), 'public_key'),
    ).toEqual(Buffer.from(nodeKey.publicKey));
    expect(read(certificate, 'subnet', subnetId, 'canister_ranges')).toEqual(
      Buffer.from('d9d9f781824a000000000000000001014affffffffffffffff0101', 'hex'),
    );
  });

  it('shows a new state at once and the time within a second', async () => {
    const certification = create();
    certification.certify([]);
    canister = { ...canister, moduleHash: new Uint8Array(32).fill(4) };
    const id = canisterId.toUint8Array();
    const path = [label('canister'), id, label('module_hash')];
    const second = await verified(certification.certify([path]), certification.rootKey());
    expect(read(second, 'canister', id, 'module_hash')).toEqual(Buffer.alloc(32, 4));
    const before = certification.certify([]);
    expect(certification.certify([])).toEqual(before);
    nowNs += 1_000_000_001n;
    expect(certification.certify([])).not.toEqual(before);
  });
});

describe('an unchanged state', () => {
  it('has one signature for all certificates of a second', () => {
    const certification = create();
    const signatureOf = (certificate: Uint8Array): unknown => {
      const fields = decodeSelfDescribed(certificate);
      return fields instanceof Map ? fields.get('signature') : undefined;
    };
    const signature = signatureOf(certification.certify([[label('subnet')]]));
    nowNs += 999_999_999n;
    expect(signatureOf(certification.dataCertificate(canisterId))).toEqual(signature);
    expect(signature).toHaveLength(48);
  });
});

describe('endOfRound()', () => {
  const request = (byte: number) => ({
    id: new Uint8Array(32).fill(byte),
    sender: Principal.anonymous(),
    canisterId,
    expiresAtNs: nowNs + 1_000_000_000n,
  });
  const reply = { status: 'replied', arg: new Uint8Array(1) } as const;

  it('is immediate for a single call, and otherwise waits for all calls in progress', async () => {
    const { requests, endOfRound } = create();
    requests.receive(request(1));
    requests.receive(request(2));
    requests.complete(request(1).id, reply);
    await endOfRound();
    let isOver = false;
    void requests.completion(request(2).id);
    const round = endOfRound().then(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isOver).toBe(false);
    requests.complete(request(2).id, reply);
    await round;
  });

  it('waits for a slow call no longer than a round', async () => {
    const { requests, endOfRound } = create();
    requests.receive(request(1));
    void requests.completion(request(1).id);
    await endOfRound();
    expect(requests.find(request(1).id)?.state.status).toBe('received');
  });
});

describe('dataCertificate()', () => {
  it('certifies the certified data and reveals nothing else of the canister', async () => {
    const certification = create();
    const certificate = await verified(
      certification.dataCertificate(canisterId),
      certification.rootKey(),
    );
    const id = canisterId.toUint8Array();
    expect(read(certificate, 'canister', id, 'certified_data')).toEqual(Buffer.from('first'));
    expect(read(certificate, 'canister', id, 'module_hash')).toBe('Unknown');
  });

  it('stays the same for a minute, whatever else changes', () => {
    const certification = create();
    const first = certification.dataCertificate(canisterId);
    nowNs += 60_000_000_000n;
    canister = { ...canister, cycles: 5n, moduleHash: new Uint8Array(32) };
    expect(certification.dataCertificate(canisterId)).toBe(first);
    nowNs += 1n;
    expect(certification.dataCertificate(canisterId)).not.toEqual(first);
  });

  it('changes with the certified data, and when the clock is set back', () => {
    const certification = create();
    const first = certification.dataCertificate(canisterId);
    canister = { ...canister, certifiedData: label('second') };
    const second = certification.dataCertificate(canisterId);
    expect(second).not.toEqual(first);
    nowNs -= 1n;
    expect(certification.dataCertificate(canisterId)).not.toBe(second);
  });

  it('is a proof of absence for an unknown canister', async () => {
    const certification = create();
    const other = Principal.fromHex('00000000000000080101');
    const certificate = await verified(
      certification.dataCertificate(other),
      certification.rootKey(),
    );
    const path = ['canister', other.toUint8Array(), 'certified_data'] as const;
    expect(read(certificate, ...path)).toBe('Absent');
  });
});

describe('node key', () => {
  it('is an Ed25519 key of 44 bytes that signs', () => {
    const { nodeKey } = create();
    expect(nodeKey.publicKey).toHaveLength(44);
    const key = createPublicKey({
      key: Buffer.from(nodeKey.publicKey),
      format: 'der',
      type: 'spki',
    });
    const message = label('message');
    expect(verify(null, message, key, nodeKey.sign(message))).toBe(true);
  });
});
