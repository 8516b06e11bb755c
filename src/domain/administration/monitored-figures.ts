// The figures of `GET /metrics`, for API keys with the permission monitor: those of the canister
// that the key's creator may see by getStatus, and those of the key's buckets, at most 100.

import type {
  BucketFigures,
  CanisterFigures,
} from '../../../packages/wire/src/metrics/families.ts';
import type { Bucket } from '../buckets/buckets.ts';
import { deliveryState } from '../journal/event-delivery.ts';
import type { ApiKey } from '../rights/api-keys.ts';
import { authorizeMonitoring } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import type { Stores } from '../shared/stores.ts';
import { type SystemFigures, statusOf } from './bucket-status.ts';

interface MetricsRequest {
  readonly secret: string;
  readonly system: SystemFigures;
}

/** Returns the figures; refuses keys that may not read them. */
export function monitoredFigures(
  stores: Stores,
  call: Call,
  { secret, system }: MetricsRequest,
): CanisterFigures {
  const { key, buckets } = authorizeMonitoring(stores, call, secret);
  const status = statusOf(stores, { ...call, caller: creatorOf(stores, key) }, system);
  const { cycles, storageReservation: reservation, role, ...counts } = status;
  const isVolume = role.kind === 'volume' && role.front !== undefined;
  return {
    canisterId: system.canisterId,
    role: isVolume ? 'volume' : 'canister',
    status: {
      ...counts,
      cycles: cycles === undefined ? undefined : Number(cycles),
      storageReservation: reservation && {
        reservedCycles: Number(reservation.reservedCycles),
        limitCycles: Number(reservation.limitCycles),
      },
    },
    buckets: buckets.map((bucket) => bucketFigures(stores, bucket)),
  };
}

function creatorOf(stores: Stores, { creator }: ApiKey): Call['caller'] {
  return { principal: creator, isController: stores.isController(creator) };
}

function bucketFigures(stores: Stores, bucket: Bucket): BucketFigures {
  const subscriptions = deliveryState(stores, bucket.id);
  return { ...bucket, openUploads: bucket.openUploadCount, subscriptions };
}
