// The joining of parts: any cuts of a whole, overlaps, and the number of parts.

import { Principal } from '@dfinity/principal';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CanisterAnswer } from '../../../packages/replica/src/gateway/candid-messages.ts';
import type { CanisterClient } from '../../../packages/replica/src/gateway/canister-client.ts';
import { joinParts } from '../../../packages/replica/src/gateway/join-parts.ts';

const request = { method: 'GET', url: '/', headers: [], body: new Uint8Array(0) } as const;
const partsMax = 1_000;

/**
 * Serves `whole` cut at `ends`; each part begins up to `overlap` bytes before the requested one.
 */
function partServer(whole: Uint8Array, ends: readonly number[], overlap = 0): CanisterClient {
  const query = async ({
    headers,
  }: {
    readonly headers: readonly (readonly [string, string])[];
  }) => {
    const asked = Number(/^bytes=(\d+)-$/.exec(headers.at(-1)?.[1] ?? '')?.[1]);
    const begin = Math.max(0, asked - overlap);
    const end = ends.find((one) => one > asked) ?? whole.length;
    const range = `bytes ${begin}-${end - 1}/${whole.length}`;
    return {
      status: 206,
      headers: [['Content-Range', range]],
      body: whole.subarray(begin, end),
      isUpgrade: false,
      streaming: undefined,
    } satisfies CanisterAnswer;
  };
  const unused = () => Promise.reject(new Error('not asked for here'));
  return { canisterId: Principal.anonymous(), query, update: unused, nextPart: unused };
}

async function join(whole: Uint8Array, ends: readonly number[], overlap = 0): Promise<Buffer> {
  const first = ends[0] ?? whole.length;
  const joined = joinParts({
    request,
    canister: partServer(whole, ends, overlap),
    verify: async (_, answer) => answer,
    first: whole.subarray(0, first),
    range: { begin: 0, end: first - 1, total: whole.length },
  });
  const parts: Uint8Array[] = [];
  for await (const part of joined) parts.push(part);
  return Buffer.concat(parts);
}

describe('joinParts()', () => {
  it('returns the whole, however it is split and overlapping', async () => {
    const whole = fc.uint8Array({ minLength: 1, maxLength: 200 });
    const cuts = fc.array(fc.integer({ min: 1, max: 199 }), { maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(whole, cuts, fc.nat(20), async (bytes, places, overlap) => {
        const inside = places.filter((place) => place < bytes.length);
        const ends = [...new Set(inside)].sort((a, b) => a - b);
        expect(await join(bytes, ends, overlap)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('joins 1,000 parts and not one more', async () => {
    const ends = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
    const whole = new Uint8Array(partsMax).fill(1);
    expect(await join(whole, ends(partsMax))).toHaveLength(partsMax);
    const longer = new Uint8Array(partsMax + 1).fill(1);
    await expect(join(longer, ends(partsMax + 1))).rejects.toThrow('1000 parts');
  });
});
