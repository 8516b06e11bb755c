// Actor methods for the canister's role in its service.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { canisterSelf } from 'azle';
import { countNames } from '../../domain/administration/bucket-names.ts';
import {
  createBucketFor,
  creationTimes,
  requireFrontOf,
} from '../../domain/administration/service-buckets.ts';
import { changeVolumes, setFront } from '../../domain/administration/service-role.ts';
import { receiveReport } from '../../domain/administration/volume-reports.ts';
import {
  changeVolume,
  conditionOf,
  requireFront,
  volumeStates,
} from '../../domain/administration/volume-states.ts';
import { noteUnreported } from '../../domain/buckets/public-buckets.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { servicePage } from '../../http/pages.ts';
import { BucketOrder } from '../candid/operations.ts';
import {
  FrontSetting,
  PublicBucketReport,
  ResultTimes,
  ResultVolumeProof,
  ResultVolumes,
  VolumeChange,
} from '../candid/service.ts';
import { ResultBucket, ResultNull } from '../candid/types.ts';
import { query, update } from '../dispatch/method.ts';
import { type BucketOptionsArgument, newBucketOf } from '../messages/bucket-arguments.ts';
import { type Optional, optional } from '../messages/optional.ts';
import { requestReport } from '../runtime/bucket-orders.ts';
import { answer, callerId, currentCall } from '../runtime/call.ts';
import { proofs, publishPages, publishService } from '../runtime/publication.ts';
import { stores, topUps } from '../runtime/runtime.ts';
import { dataCertificate, time } from '../runtime/system.ts';
import { bucketView } from './buckets.ts';

interface FrontArgument {
  front: Principal;
  url: Optional<string>;
}

interface ReportArgument {
  origin: string;
  after: string;
  through: Optional<string>;
  buckets: string[];
  state: Optional<{
    others: string[];
    at: bigint;
    stableBytes: bigint;
    cycles: bigint;
    reservedCycles: bigint;
  }>;
}

interface OrderArgument {
  owner: Principal;
  bucketId: string;
  options: Optional<BucketOptionsArgument>;
  until: bigint;
}

interface VolumeChangeArgument {
  volume: Principal;
  isClosed: Optional<boolean>;
  limitBytes: Optional<bigint>;
}

/** Certifies the pages that depend on the changed role. */
function changed(change: () => void) {
  return answer(() => {
    change();
    publishPages(stores);
    return null;
  });
}

/** Front and volumes: volumes store a service's files, and its front serves the console. */
export class ServiceActor {
  /** Sets the front of the service; null removes it. For controllers of a volume. */
  @update([IDL.Opt(FrontSetting)], ResultNull)
  setFront([argument]: Optional<FrontArgument>) {
    const front = argument && { id: argument.front.toText(), url: argument.url[0] };
    const id = canisterSelf().toText();
    return changed(() => setFront(stores, currentCall(), { id, front }));
  }

  /** Adds a volume to the list, which then reports its buckets. For controllers of a front. */
  @update([IDL.Principal], ResultNull)
  async addVolume(volume: Principal) {
    const id = volume.toText();
    const added = changed(() => changeVolumes(stores, currentCall(), { add: [id] }));
    if ('ok' in added) await requestReport(id);
    return added;
  }

  /** Removes a volume from the list; its files stay. For controllers of a front. */
  @update([IDL.Principal], ResultNull)
  removeVolume(volume: Principal) {
    return changed(() => changeVolumes(stores, currentCall(), { remove: [volume.toText()] }));
  }

  /** Opens, closes or limits a volume of the list. For controllers of a front. */
  @update([VolumeChange], ResultNull)
  updateVolume({ volume, isClosed, limitBytes }: VolumeChangeArgument) {
    return changed(() =>
      changeVolume(stores, currentCall(), {
        volumeId: volume.toText(),
        isClosed: isClosed[0],
        limitBytes: limitBytes[0],
      }),
    );
  }

  /** Replaces what the front knows of a volume's buckets in a range. Volumes call it. */
  @update([PublicBucketReport], ResultNull)
  reportPublicBuckets({ through, state: [sent], ...report }: ReportArgument) {
    return answer(() => {
      const volumeId = callerId();
      const state = sent && {
        others: sent.others,
        atNs: sent.at,
        stableBytes: Number(sent.stableBytes),
        cycles: Number(sent.cycles),
        reservedCycles: Number(sent.reservedCycles),
      };
      receiveReport(stores, { ...report, volumeId, through: through[0], state }, time());
      publishService(stores);
      topUps.arm();
      return null;
    });
  }

  /** Creates a bucket for the owner that the front names. The volume's front calls it. */
  @update([BucketOrder], ResultBucket)
  createBucketFor({ owner, bucketId, options, until }: OrderArgument) {
    const request = newBucketOf(bucketId, options);
    const asked = { owner: owner.toUint8Array(), untilNs: until, callerId: callerId() };
    const order = { ...request, ...asked };
    return answer(() => bucketView(createBucketFor(stores, currentCall(), order)));
  }

  /** Returns when each bucket was created, or null. The volume's front calls it. */
  @query([IDL.Vec(IDL.Text)], ResultTimes)
  getCreationTimes(ids: string[]) {
    return answer(() => {
      requireFrontOf(stores, callerId());
      return creationTimes(stores, ids).map(optional);
    });
  }

  /** Reports all buckets to the front soon. The volume's front calls it. */
  @update([], ResultNull)
  reportToFront() {
    return answer(() => {
      requireFrontOf(stores, callerId());
      noteUnreported(stores);
      return null;
    });
  }

  /**
   * Returns the list of `/.well-known/efs-service` with a proof, for clients that call the actor of
   * a front.
   */
  @query([], ResultVolumeProof)
  getVolumeProof() {
    return answer(() => {
      requireFront(stores);
      const tree = proofs.proveVolumes(servicePage(stores).body());
      const certificate = dataCertificate();
      if (tree === undefined || certificate === undefined) {
        throw new Refusal('ServiceUnavailable', 'A proof exists only in queries: send a query.');
      }
      return { certificate, tree };
    });
  }

  /** Lists the volumes of a front; empty at a volume. */
  @query([], ResultVolumes)
  listVolumes() {
    return answer(() =>
      volumeStates(stores).map((state) => ({
        canisterId: Principal.fromText(state.volumeId),
        state: conditionOf(state),
        reportedAt: optional(state.reportedAtNs === 0n ? undefined : state.reportedAtNs),
        buckets: countNames(stores, state.volumeId),
        stableBytes: state.stableBytes,
        limitBytes: state.limitBytes,
        reservedCycles: state.reservedCycles,
      })),
    );
  }
}
