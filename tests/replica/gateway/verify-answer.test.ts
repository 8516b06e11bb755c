// Edge cases of the verifier: clocks, keys, and answers that make it panic. No canister needed.

import { Principal } from '@dfinity/principal';
import { sha256 } from '@noble/hashes/sha2';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../packages/replica/src/gateway/gateway-error.ts';
import { verifyAnswer } from '../../../packages/replica/src/gateway/verify-answer.ts';
import {
  fromEntries,
  labeled,
  leaf,
  toArrays,
} from '../../../packages/replica/src/state/hash-tree.ts';
import { encodeSelfDescribed } from '../../../packages/replica/src/state/self-described-cbor.ts';
import { createSubnetKey } from '../../../packages/replica/src/state/subnet-key.ts';
import { certifyPages, provenAnswer } from '../../support/gateway-canister/certified-site.ts';

const canisterId = Principal.fromText('rrkah-fqaaa-aaaaa-aaaaq-cai');
const rootKey = createSubnetKey(new Uint8Array(32).fill(1));
const timeNs = 1_800_000_000_000_000_000n;
const minute = 60_000_000_000n;
const page = { path: ['a', '<$>'], body: new Uint8Array(3) };
const site = certifyPages([page]);

afterEach(() => {
  vi.restoreAllMocks();
});

/** Creates a certificate as the root subnet would sign it. */
function certificateFor(id: Principal, key = rootKey, certified = site.hash): Uint8Array {
  const data = labeled('certified_data', leaf(certified));
  const bytes: number[] = [];
  for (let rest = timeNs; rest > 0n; rest >>= 7n) {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
  }
  const tree = fromEntries([
    ['canister', labeled(id.toUint8Array(), data)],
    ['time', leaf(Uint8Array.from(bytes))],
  ]);
  return encodeSelfDescribed({ tree: toArrays(tree), signature: key.signStateRoot(tree.hash) });
}

function verify(change: { nowNs?: bigint; certificate?: Uint8Array; header?: string } = {}) {
  const certificate = change.certificate ?? certificateFor(canisterId);
  const {
    status = 200,
    headers = [],
    body = page.body,
  } = provenAnswer(page, { tree: site, certificate });
  const { header } = change;
  return verifyAnswer({
    request: { method: 'GET', url: '/a', headers: [], body: new Uint8Array(0) },
    answer: {
      status,
      headers: headers.map(([name, value]) => [
        name,
        name === 'IC-Certificate' ? (header ?? value) : value,
      ]),
      body,
    },
    canisterId,
    rootKey: rootKey.publicKey,
    nowNs: change.nowNs ?? timeNs,
  });
}

describe('verifyAnswer()', () => {
  it('accepts a certificate that is up to five minutes old or ahead', () => {
    for (const nowNs of [timeNs, timeNs + 5n * minute - 1n, timeNs - 5n * minute + 1n]) {
      expect(() => verify({ nowNs })).not.toThrow();
    }
    for (const nowNs of [timeNs + 5n * minute + minute, timeNs - 6n * minute]) {
      expect(() => verify({ nowNs })).toThrow(GatewayError);
    }
  });

  it("refuses another root key's certificate", () => {
    const certificate = certificateFor(canisterId, createSubnetKey(new Uint8Array(32).fill(2)));
    expect(() => verify({ certificate })).toThrow(/verif/i);
  });

  it("refuses another canister's certificate", () => {
    const certificate = certificateFor(Principal.fromText('ryjl3-tyaaa-aaaaa-aaaba-cai'));
    expect(() => verify({ certificate })).toThrow(GatewayError);
  });

  describe('of a canister that certifies by version 1', () => {
    const body = new Uint8Array(5).fill(7);
    const assets = labeled('http_assets', labeled('/a', leaf(sha256(body))));
    const certificate = certificateFor(canisterId, rootKey, assets.hash);
    const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
    const tree = base64(encodeSelfDescribed(toArrays(assets)));
    const proof = `certificate=:${base64(certificate)}:, tree=:${tree}:`;
    const verifyFormer = (change: { status?: number; body?: Uint8Array; url?: string }) =>
      verifyAnswer({
        request: {
          method: 'GET',
          url: change.url ?? '/a',
          headers: [],
          body: new Uint8Array(0),
        },
        answer: {
          status: change.status ?? 200,
          headers: [
            ['IC-Certificate', proof],
            ['Content-Type', 'text/plain'],
            ['Cache-Control', 'max-age=9'],
          ],
          body: change.body ?? body,
        },
        canisterId,
        rootKey: rootKey.publicKey,
        nowNs: timeNs,
      });

    it('accepts the body, and returns all headers but cache-control', () => {
      const names = verifyFormer({}).map(([name]) => name);
      expect(names).toEqual(['IC-Certificate', 'Content-Type']);
    });

    it('refuses another body, another path, and redirects', () => {
      expect(() => verifyFormer({ body: new Uint8Array(5) })).toThrow(GatewayError);
      expect(() => verifyFormer({ url: '/b' })).toThrow(GatewayError);
      expect(() => verifyFormer({ status: 301 })).toThrow('does not allow redirects');
    });
  });

  it('continues after answers that make the verifier panic', () => {
    const silenced = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const endlessMap = Buffer.from('d9d9f7bbffffffffffffffff', 'hex').toString('base64');
    const header = `certificate=:${endlessMap}:, tree=:${endlessMap}:, expr_path=:${endlessMap}:, version=2`;
    const certificate = certificateFor(canisterId);
    for (let count = 0; count < 200; count += 1) {
      expect(() => verify({ header, certificate })).toThrow(GatewayError);
    }
    expect(silenced).toHaveBeenCalled();
    expect(() => verify()).not.toThrow();
  });
});
