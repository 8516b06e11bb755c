// How host, query and Referer select the canister. Vector: the network gateway's documented order.

import { describe, expect, it } from 'vitest';
import { resolveCanister } from '../../../packages/replica/src/gateway/canister-resolution.ts';
import { GatewayError } from '../../../packages/replica/src/gateway/gateway-error.ts';

const id = 'rrkah-fqaaa-aaaaa-aaaaq-cai';
const other = 'ryjl3-tyaaa-aaaaa-aaaba-cai';

function resolve(host: string, url = '/', referer?: string) {
  const { canisterId, isRaw } = resolveCanister({ host, url, referer });
  return { id: canisterId?.toText(), isRaw };
}

function refusal(host: string | undefined, url = '/'): string | undefined {
  try {
    resolveCanister({ host, url, referer: undefined });
    return undefined;
  } catch (error) {
    return error instanceof GatewayError ? `${error.status} ${error.code}` : String(error);
  }
}

describe('resolveCanister()', () => {
  it('reads the id from the host, whatever its port and letter case', () => {
    expect(resolve(`${id}.localhost:4943`)).toEqual({ id, isRaw: false });
    expect(resolve(`${id.toUpperCase()}.LOCALHOST`)).toEqual({ id, isRaw: false });
    expect(resolve(`${id}.localhost.:80`)).toEqual({ id, isRaw: false });
  });

  it('reads the id after a prefix', () => {
    expect(resolve(`branch--${id}.localhost`)).toEqual({ id, isRaw: false });
    expect(resolve(`a--b--${id}.raw.localhost`)).toEqual({ id, isRaw: true });
  });

  it('turns verification off on raw hosts only', () => {
    expect(resolve(`${id}.raw.localhost`)).toEqual({ id, isRaw: true });
    expect(resolve(`raw.localhost:1`, `/?canisterId=${id}`)).toEqual({ id, isRaw: true });
    expect(resolve(`localhost`, `/?canisterId=${id}`)).toEqual({ id, isRaw: false });
  });

  it('prefers host over query over Referer', () => {
    const referer = `http://${other}.localhost:4943/page`;
    expect(resolve(`${id}.localhost`, `/?canisterId=${other}`, referer).id).toBe(id);
    expect(resolve('localhost:1', `/a?x=1&canisterId=${id}`, referer).id).toBe(id);
    expect(resolve('127.0.0.1:1', '/a.css', referer).id).toBe(other);
    expect(resolve('[::1]:1', '/a.css', `http://localhost/?canisterId=${other}`).id).toBe(other);
  });

  it('returns undefined if no canister is named', () => {
    expect(resolve('localhost:4943', '/x', 'not a URL')).toEqual({ id: undefined, isRaw: false });
    expect(resolve('localhost', '/x', 'http://example.org/').id).toBeUndefined();
  });

  it('refuses invalid ids', () => {
    expect(refusal('nonsense.localhost')).toBe('400 CanisterIdInvalid');
    expect(refusal('localhost', '/?canisterId=abc')).toBe('400 CanisterIdInvalid');
    expect(refusal(`${id.slice(0, -1)}x.localhost`)).toBe('400 CanisterIdInvalid');
  });

  it('refuses hosts that are not served', () => {
    expect(refusal('example.org')).toBe('400 UnknownHost');
    expect(refusal(`deeper.${id}.localhost`)).toBe('400 UnknownHost');
    expect(refusal(`${id}.raw.raw.localhost`)).toBe('400 UnknownHost');
    expect(refusal(undefined)).toBe('400 MalformedRequest');
    expect(refusal('')).toBe('400 MalformedRequest');
  });
});
