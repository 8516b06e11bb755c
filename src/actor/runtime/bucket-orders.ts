// A front's orders to its volumes: to create a bucket for a caller, to say whether they have
// created it if an answer was lost, and to report their buckets.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { call, time } from 'azle';
import type { Reservation } from '../../domain/administration/bucket-names.ts';
import {
  endRejected,
  endReservation,
  nextOverdueNs,
  overdueReservations,
  reserveBucket,
} from '../../domain/administration/service-buckets.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import type { Stores } from '../../domain/shared/stores.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { BucketOrder } from '../candid/operations.ts';
import { messageHead } from '../candid/result.ts';
import { ResultTimes } from '../candid/service.ts';
import { ResultBucket, ResultNull } from '../candid/types.ts';
import { answer, callerId, currentCall, errorText, type Result } from './call.ts';
import { isCleanup, isWithoutEffect, reasonOf } from './management.ts';
import { createOneShotTimer } from './timers.ts';

const nsPerSecond = 1_000_000_000n;
/** Pause before a volume that did not answer is asked again. */
const retrySeconds = 600;
/** Volumes that one request asks before it fails. */
const triesMax = 3;

/** The optional argument of createBucket as it was decoded. */
type OptionsArgument = [] | [object];

interface CreatedBucket {
  readonly createdAt: bigint;
}

export interface BucketOrders {
  /** Creates the bucket at a volume for the caller. */
  create(bucket: string, options: OptionsArgument): Promise<Result<unknown>>;
  /** Asks about lost answers once their time has come. */
  arm(): void;
}

export function createBucketOrders(stores: Stores): BucketOrders {
  const timer = createOneShotTimer(settle);

  function arm(): void {
    const dueNs = nextOverdueNs(stores);
    if (dueNs === undefined) return;
    const waitNs = dueNs - time();
    timer.arm(waitNs > 0n ? Number(waitNs / nsPerSecond) + 1 : 0);
  }

  /** Asks each volume about its overdue reservations. */
  async function settle(): Promise<void> {
    const overdue = overdueReservations(stores, time());
    // Armed before the calls, whose end may be lost
    if (overdue.length > 0) timer.arm(retrySeconds);
    for (const volumeId of new Set(overdue.map((reservation) => reservation.volumeId))) {
      const own = overdue.filter((reservation) => reservation.volumeId === volumeId);
      await settleAt(stores, volumeId, own);
    }
    if (overdueReservations(stores, time()).length === 0) arm();
  }

  return {
    async create(bucket, options) {
      const call = currentCall();
      const caller = callerId();
      const tried = new Set<string>();
      const reasons: string[] = [];
      for (;;) {
        const asked = { ...call, nowNs: time() };
        const reserved = answer(() => reserveBucket(stores, asked, { bucket, caller, tried }));
        if ('err' in reserved) return reserved;
        const { volumeId } = reserved.ok;
        if (tried.has(volumeId) || tried.size >= triesMax) {
          endReservation(stores, reserved.ok, undefined);
          return untaken(bucket, reasons);
        }
        arm();
        const outcome = await order(reserved.ok, options);
        if ('reply' in outcome) {
          const { reply } = outcome;
          endReservation(stores, reserved.ok, 'ok' in reply ? reply.ok.createdAt : undefined);
          return reply;
        }
        if (!outcome.isWithoutEffect || !endRejected(stores, reserved.ok, time())) {
          return unanswered(reserved.ok, outcome.reason);
        }
        tried.add(volumeId);
        reasons.push(`${volumeId} (${outcome.reason})`);
      }
    },
    arm,
  };
}

type OrderOutcome =
  | { readonly reply: Result<CreatedBucket> }
  /** The call failed; `isWithoutEffect` if the bucket was certainly not created. */
  | { readonly isWithoutEffect: boolean; readonly reason: string };

async function order(reservation: Reservation, options: OptionsArgument): Promise<OrderOutcome> {
  const { bucketId, volumeId, owner, untilNs: until } = reservation;
  try {
    // The library's encoding of the argument would take eight million instructions more
    const value = { owner: Principal.fromText(owner), bucketId, options, until };
    const argument = concatBytes(messageHead(BucketOrder), BucketOrder.encodeValue(value));
    const reply = await call<Uint8Array, Uint8Array>(volumeId, 'createBucketFor', {
      raw: true,
      args: argument,
    });
    return { reply: IDL.decode([ResultBucket], reply)[0] as unknown as Result<CreatedBucket> };
  } catch (error) {
    if (isCleanup(error)) throw error;
    return { isWithoutEffect: isWithoutEffect(error), reason: reasonOf(error) };
  }
}

function unanswered({ bucketId, volumeId }: Reservation, reason: string) {
  return unavailable(
    `The volume ${volumeId} did not answer (${reason}), so bucket ${bucketId} may or may not ` +
      'exist. Send the request again: the name stays yours for three minutes.',
  );
}

function untaken(bucket: string, reasons: readonly string[]) {
  return unavailable(
    `Bucket ${bucket} was not created, because these volumes rejected the call: ` +
      `${reasons.join('; ')}. Start them or top up their cycles, and try again.`,
  );
}

function unavailable(message: string): { err: string } {
  return { err: errorText(new Refusal('ServiceUnavailable', message)) };
}

async function settleAt(
  stores: Stores,
  volumeId: string,
  reservations: readonly Reservation[],
): Promise<void> {
  const ids = reservations.map(({ bucketId }) => bucketId);
  try {
    const reply = await call<[string[]], Result<([] | [bigint])[]>>(volumeId, 'getCreationTimes', {
      paramIdlTypes: [IDL.Vec(IDL.Text)],
      returnIdlType: ResultTimes,
      args: [ids],
    });
    if ('err' in reply) throw new Error(reply.err);
    for (const [index, reservation] of reservations.entries()) {
      endReservation(stores, reservation, reply.ok[index]?.[0]);
    }
  } catch (error) {
    if (isCleanup(error)) throw error;
    console.log(`Cannot ask the volume ${volumeId} about new buckets: ${reasonOf(error)}.`);
  }
}

/** Asks a volume to report all its buckets. Without an answer, it reports them within a day. */
export async function requestReport(volumeId: string): Promise<void> {
  try {
    await call(volumeId, 'reportToFront', { returnIdlType: ResultNull, args: [] });
  } catch (error) {
    if (isCleanup(error)) throw error;
    console.log(`Cannot ask the volume ${volumeId} for a report: ${reasonOf(error)}.`);
  }
}
