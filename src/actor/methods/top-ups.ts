// Actor methods for the cycles that a front sends to its volumes.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import {
  changeTopUpLimits,
  checkRequest,
  lastTopUps,
  type TopUpLimits,
  topUpLimits,
} from '../../domain/administration/top-ups.ts';
import { requireFront, volumeStates } from '../../domain/administration/volume-states.ts';
import { requireController } from '../../domain/shared/caller.ts';
import { liquidCycles } from '../../storage/stable-space.ts';
import { ResultTopUpLimits, ResultTopUps, TopUpChange } from '../candid/service.ts';
import { ResultNull } from '../candid/types.ts';
import { query, update } from '../dispatch/method.ts';
import { type Optional, optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { stores, topUps } from '../runtime/runtime.ts';
import { time } from '../runtime/system.ts';

/** Top-ups that getTopUps returns. */
const shownMax = 100;

type ChangeArgument = { readonly [Name in keyof TopUpLimits]: Optional<bigint> };

/** Top-ups: a front sends cycles to its volumes. */
export class TopUpActor {
  /** Sets when volumes are topped up, and the daily maximum. For controllers of a front. */
  @update([TopUpChange], ResultTopUpLimits)
  updateTopUps(argument: ChangeArgument) {
    return answer(() => {
      const given = Object.entries(argument).flatMap(([name, [value]]) =>
        value === undefined ? [] : [[name, Number(value)]],
      );
      const limits = changeTopUpLimits(stores, currentCall(), Object.fromEntries(given));
      topUps.arm();
      return limits;
    });
  }

  /** (volume, cycles) Sends cycles to a volume of the list now. For controllers of a front. */
  @update([IDL.Principal, IDL.Nat], ResultNull)
  async topUpVolume(volume: Principal, amount: bigint) {
    const [volumeId, cycles] = [volume.toText(), Number(amount)];
    const checked = answer(() => {
      checkRequest(stores, currentCall(), { volumeId, cycles });
      return null;
    });
    if ('err' in checked) return checked;
    return topUps.send({ atNs: time(), volumeId, cycles, cause: 'request' });
  }

  /** Returns the limits, the known cycles and the last top-ups. For controllers of a front. */
  @query([], ResultTopUps)
  getTopUps() {
    return answer(() => {
      requireController(currentCall());
      requireFront(stores);
      return {
        limits: optional(topUpLimits(stores)),
        frontCycles: liquidCycles(),
        volumes: volumeStates(stores).map(({ volumeId, cycles, reportedAtNs }) => ({
          volume: Principal.fromText(volumeId),
          cycles: optional(cycles),
          reportedAt: optional(reportedAtNs === 0n ? undefined : reportedAtNs),
        })),
        last: lastTopUps(stores, shownMax).map(({ atNs, volumeId, cycles, cause }) => ({
          at: atNs,
          volume: Principal.fromText(volumeId),
          cycles,
          cause,
        })),
      };
    });
  }
}
