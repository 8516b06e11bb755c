import { Principal } from '@dfinity/principal';
import { describe, expect, it } from 'vitest';
import { lookup, lookupValue } from '../../../packages/replica/src/state/hash-tree.ts';
import { createRequestRegistry } from '../../../packages/replica/src/state/request-registry.ts';

const minuteNs = 60_000_000_000n;
const idOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const requestOf = (byte: number, expiresAtNs: bigint) => ({
  id: idOf(byte),
  sender: Principal.anonymous(),
  canisterId: Principal.managementCanister(),
  expiresAtNs,
});

describe('request registry', () => {
  it('accepts the same request once, until it is forgotten', () => {
    let now = 0n;
    const registry = createRequestRegistry(() => now);
    expect(registry.receive(requestOf(1, minuteNs))).toBe(true);
    expect(registry.receive(requestOf(1, minuteNs))).toBe(false);
    registry.complete(idOf(1), { status: 'replied', arg: new Uint8Array([7]) });
    now = 5n * minuteNs - 1n;
    expect(registry.receive(requestOf(1, minuteNs))).toBe(false);
    now = 5n * minuteNs;
    expect(registry.find(idOf(1))).toBeUndefined();
    expect(lookup(registry.tree(), [idOf(1)]).status).toBe('absent');
  });

  it('shows a rejection with its code as LEB128', () => {
    const registry = createRequestRegistry(() => 0n);
    registry.receive(requestOf(1, minuteNs));
    registry.complete(idOf(1), {
      status: 'rejected',
      code: 4,
      message: 'no',
      errorCode: 'IC0406',
    });
    const value = (name: string) => lookupValue(registry.tree(), [idOf(1), Buffer.from(name)]);
    expect(value('status')).toEqual(Buffer.from('rejected'));
    expect(value('reject_code')).toEqual(Uint8Array.of(4));
    expect(value('reject_message')).toEqual(Buffer.from('no'));
    expect(value('error_code')).toEqual(Buffer.from('IC0406'));
  });

  it('never forgets a request that is still running', () => {
    let now = 0n;
    const registry = createRequestRegistry(() => now);
    registry.receive(requestOf(1, minuteNs));
    registry.setProcessing(idOf(1));
    now = 60n * minuteNs;
    expect(registry.find(idOf(1))?.state.status).toBe('processing');
  });

  it('drops the oldest answers beyond 64 MiB, and reports them as done', () => {
    const registry = createRequestRegistry(() => 0n);
    for (let byte = 0; byte < 34; byte++) {
      registry.receive(requestOf(byte, minuteNs));
      registry.complete(idOf(byte), { status: 'replied', arg: new Uint8Array(2_097_152) });
    }
    expect(registry.find(idOf(0))?.state.status).toBe('done');
    expect(registry.find(idOf(1))?.state.status).toBe('done');
    expect(registry.find(idOf(2))?.state.status).toBe('replied');
    expect(registry.count()).toBe(34);
  });

  it('resolves completion() when the request completes, and at once afterwards', async () => {
    const registry = createRequestRegistry(() => 0n);
    registry.receive(requestOf(1, minuteNs));
    let isComplete = false;
    const waiting = registry.completion(idOf(1)).then(() => {
      isComplete = true;
    });
    await Promise.resolve();
    expect(isComplete).toBe(false);
    registry.complete(idOf(1), { status: 'replied', arg: new Uint8Array() });
    await waiting;
    await registry.completion(idOf(1));
    expect(isComplete).toBe(true);
  });
});
