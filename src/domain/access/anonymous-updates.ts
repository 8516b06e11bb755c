// A budget for what anybody can make the canister pay for: updates of requests that carry no good
// key, such as ranges of public files. A token bucket for the whole canister, set by controllers.

import { encodeUtf8 } from '../../lib/text.ts';
import {
  anonymousUpdatesBurst,
  anonymousUpdatesMax,
  anonymousUpdatesPerMinute,
} from '../../limits.ts';
import { RecordReader, RecordWriter } from '../../storage/codec.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { type Allowance, takeTokens, tokensLeft } from '../shared/token-buckets.ts';

// 0: version 1 | burst u32 | per minute u32; in the meta map, absent for the default
const version = 1;
const metaKey = 'anonymousUpdates';

export function readAllowance(stores: Stores): Allowance {
  stores.heap.allowance ??= readStored(stores);
  return stores.heap.allowance;
}

function readStored(stores: Stores): Allowance {
  const stored = stores.meta.get(encodeUtf8(metaKey));
  if (stored === undefined) {
    return { burst: anonymousUpdatesBurst, perMinute: anonymousUpdatesPerMinute };
  }
  const reader = new RecordReader(stored, version);
  return { burst: reader.u32(), perMinute: reader.u32() };
}

/** As callers write it; refuses what is beyond every use. */
export function parseAllowance(allowance: {
  readonly burst: bigint;
  readonly perMinute: bigint;
}): Allowance {
  const { burst, perMinute } = allowance;
  if (burst > BigInt(anonymousUpdatesMax) || perMinute > BigInt(anonymousUpdatesMax)) {
    throw new Refusal(
      'InvalidArgument',
      `burst and perMinute of anonymous updates are at most ${anonymousUpdatesMax}; 0 allows none.`,
    );
  }
  return { burst: Number(burst), perMinute: Number(perMinute) };
}

export function saveAllowance(stores: Stores, allowance: Allowance): void {
  const { burst, perMinute } = allowance;
  const record = new RecordWriter(version).u32(burst).u32(perMinute).finish([]);
  stores.meta.set(encodeUtf8(metaKey), record);
  stores.heap.allowance = allowance;
}

/** Updates that anybody may cause now; parts of one count. */
export function anonymousUpdatesLeft(stores: Stores, nowNs: bigint): number {
  return tokensLeft(stores.heap.tokens, bucketOf(stores), nowNs);
}

function bucketOf(stores: Stores) {
  return { name: metaKey, allowance: readAllowance(stores) };
}

/** Refuses with SlowDown while none is left; changes nothing. */
export function checkAnonymousUpdate(stores: Stores, nowNs: bigint): void {
  if (anonymousUpdatesLeft(stores, nowNs) < 1) {
    throw new Refusal(
      'SlowDown',
      'Requests without a key that the canister has to pay for, such as ranges of files, are limited: ' +
        'try again in some seconds, ask for the whole file, or send an API key.',
    );
  }
}

/** Counts one; refuses with SlowDown while none is left. */
export function takeAnonymousUpdate(stores: Stores, nowNs: bigint): void {
  checkAnonymousUpdate(stores, nowNs);
  takeTokens(stores.heap.tokens, bucketOf(stores), { nowNs });
}
