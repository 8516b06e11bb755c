// Actor methods for the canister's role in its service.

import { IDL } from '@dfinity/candid';
import { Principal } from '@dfinity/principal';
import { canisterSelf } from 'azle';
import { reportPublicBuckets } from '../../domain/administration/public-addresses.ts';
import { changeVolumes, setFront } from '../../domain/administration/service-role.ts';
import { serviceRole } from '../../domain/shared/role-record.ts';
import { PublicBucketReport } from '../candid/operations.ts';
import { FrontSetting, ResultNull, ResultVolumes } from '../candid/types.ts';
import { query, update } from '../dispatch/method.ts';
import type { Optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { publishPages } from '../runtime/publication.ts';
import { stores } from '../runtime/runtime.ts';

interface FrontArgument {
  front: Principal;
  url: Optional<string>;
}

interface ReportArgument {
  origin: string;
  after: string;
  through: Optional<string>;
  buckets: string[];
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

  /** Adds a volume to the list. For controllers of a front. */
  @update([IDL.Principal], ResultNull)
  addVolume(volume: Principal) {
    return changed(() => changeVolumes(stores, currentCall(), { add: [volume.toText()] }));
  }

  /** Removes a volume from the list; its files stay. For controllers of a front. */
  @update([IDL.Principal], ResultNull)
  removeVolume(volume: Principal) {
    return changed(() => changeVolumes(stores, currentCall(), { remove: [volume.toText()] }));
  }

  /**
   * Replaces the redirects from `/b/{bucket}` to a volume's public buckets in a range of ids. For
   * the volumes of a front, which call it by themselves.
   */
  @update([PublicBucketReport], ResultNull)
  reportPublicBuckets({ through, ...report }: ReportArgument) {
    return answer(() => {
      const { caller } = currentCall();
      const volumeId = Principal.fromUint8Array(caller.principal).toText();
      reportPublicBuckets(stores, { ...report, volumeId, through: through[0] });
      return null;
    });
  }

  /** Lists the volumes of a front; empty at a volume. */
  @query([], ResultVolumes)
  listVolumes() {
    return answer(() => {
      const role = serviceRole(stores);
      const volumes = role.kind === 'front' ? role.volumes : [];
      return volumes.map((canisterId) => ({ canisterId: Principal.fromText(canisterId) }));
    });
  }
}
