// The status of the service: counts, sizes and cycles without secrets.

import { Principal } from '@dfinity/principal';
import { canisterCycleBalance, canisterSelf } from 'azle';
import {
  type Status,
  type SystemFigures,
  statusOf,
} from '../../domain/administration/bucket-status.ts';
import type { EncryptionStatus } from '../../domain/administration/encryption-status.ts';
import type { ServiceRole } from '../../domain/shared/service-role.ts';
import {
  chargesCycles,
  heapSize,
  spendableCycles,
  stablePageBytes,
  stableSize,
} from '../../storage/stable-space.ts';
import { ResultStatus } from '../candid/types.ts';
import { query } from '../dispatch/method.ts';
import { optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';
import { storageReservation } from '../runtime/storage-reservation.ts';

/** Getters, because a request needs only one of the figures. */
const figures: SystemFigures = {
  get canisterId() {
    return canisterSelf().toText();
  },
  get stableBytes() {
    return stableSize() * stablePageBytes;
  },
  get heapBytes() {
    return heapSize() * stablePageBytes;
  },
  get cycles() {
    return canisterCycleBalance();
  },
  get spendableCycles() {
    return spendableCycles();
  },
  get chargesCycles() {
    return chargesCycles();
  },
  get storageReservation() {
    return storageReservation();
  },
};

export function systemFigures(): SystemFigures {
  return figures;
}

function shownRole(role: ServiceRole) {
  if (role.kind === 'front') {
    return { front: { volumes: role.volumes.map((id) => Principal.fromText(id)) } };
  }
  const { front } = role;
  const shown = front && { front: Principal.fromText(front.id), url: [front.url] };
  return { volume: { front: optional(shown) } };
}

function shownEncryption({ proxy, ...encryption }: EncryptionStatus) {
  return { ...encryption, proxy: optional(proxy && Principal.fromText(proxy)) };
}

function shownReservation({ storageReservation: known }: Status) {
  return known && { ...known, readAt: known.readAtNs };
}

/** The status of the service. */
export class StatusActor {
  /** Returns version, counts, sizes in bytes, and cycles for callers who may see them. */
  @query([], ResultStatus)
  getStatus() {
    return answer(() => {
      const status = statusOf(stores, currentCall(), systemFigures());
      const { cycles, linkUpdates, refusals, derivations, role } = status;
      return {
        ...status,
        encryption: shownEncryption(status.encryption),
        cycles: optional(cycles),
        chargesCycles: [status.chargesCycles],
        storageReservation: optional(shownReservation(status)),
        linkUpdates: optional(linkUpdates),
        refusals: optional(refusals),
        derivations: optional(derivations),
        role: [shownRole(role)],
      };
    });
  }
}
