// The public buckets of a front's volumes, to which it redirects from `/b/{bucket}`. Volumes report
// them. A name that two volumes report belongs to the first one, until that volume reports that the
// bucket is no longer public or leaves the list. In the directory:
//
//   17 | volume id | 0 | bucket id | 0 | the volume's origin -> 0
//   18 | bucket id | 0 | volume id                           -> 0

import { publicAddressCountMax } from '../../limits.ts';
import type { IdRange } from '../shared/heap-state.ts';
import type { PublicAddress } from '../shared/publication.ts';
import { serviceRole } from '../shared/role-record.ts';
import type { Stores } from '../shared/stores.ts';
import { countOfVolume, firstAfter, keyOf, textsOf, textsOfVolume } from './volume-entries.ts';

const kinds = { ofVolume: 17, owner: 18 } as const;

interface AddressReport extends IdRange {
  readonly volumeId: string;
  readonly origin: string;
  /** All public buckets of the range. */
  readonly buckets: readonly string[];
}

/**
 * Replaces the addresses of the volume's buckets in the range. Buckets beyond the limit get no
 * address, so that the report still removes those of others.
 */
export function replaceAddresses(stores: Stores, report: AddressReport): void {
  const { volumeId } = report;
  const stored = addressesOf(stores, volumeId, report);
  const reported = new Set(report.buckets);
  for (const [bucketId, origin] of stored) {
    if (!reported.has(bucketId)) remove(stores, volumeId, { bucketId, origin });
  }
  let room =
    publicAddressCountMax - countOfVolume(stores.directory, { kind: kinds.ofVolume, volumeId });
  for (const bucketId of reported) {
    const former = stored.get(bucketId);
    if (former === report.origin) continue;
    if (former !== undefined) remove(stores, volumeId, { bucketId, origin: former });
    else if (room <= 0 || ownerOf(stores, bucketId) !== undefined) continue;
    else room -= 1;
    add(stores, volumeId, { bucketId, origin: report.origin });
  }
}

/** Returns the origins of the volume's buckets in the range, by their ids. */
function addressesOf({ directory }: Stores, volumeId: string, range: IdRange): Map<string, string> {
  const texts = textsOfVolume(directory, { kind: kinds.ofVolume, volumeId }, range);
  return new Map(texts.map(([, bucketId = '', origin = '']) => [bucketId, origin]));
}

function ownerOf({ directory }: Stores, bucketId: string): string | undefined {
  const entry = firstAfter(directory, kinds.owner, bucketId);
  return entry && textsOf(entry)[1];
}

function add(stores: Stores, volumeId: string, address: PublicAddress): void {
  const { bucketId, origin } = address;
  stores.directory.insert(keyOf(kinds.ofVolume, volumeId, bucketId, origin), 0n);
  stores.directory.insert(keyOf(kinds.owner, bucketId, volumeId), 0n);
  stores.publication.putAddress(address);
}

function remove(stores: Stores, volumeId: string, { bucketId, origin }: PublicAddress): void {
  stores.directory.remove(keyOf(kinds.ofVolume, volumeId, bucketId, origin));
  stores.directory.remove(keyOf(kinds.owner, bucketId, volumeId));
  stores.publication.removeAddress(bucketId);
}

/** Removes the addresses of all buckets of a volume that leaves the list: at most 1,000. */
export function removeAddressesOf(stores: Stores, volumeId: string): void {
  const all = addressesOf(stores, volumeId, { after: '', through: undefined });
  for (const [bucketId, origin] of all) remove(stores, volumeId, { bucketId, origin });
}

/** Returns the address of the public bucket with that id at any volume. */
export function findPublicAddress(stores: Stores, bucketId: string): PublicAddress | undefined {
  const volumeId = ownerOf(stores, bucketId);
  if (volumeId === undefined) return undefined;
  const entry = firstAfter(stores.directory, kinds.ofVolume, volumeId, bucketId);
  const [, , origin] = entry === undefined ? [] : textsOf(entry);
  return origin === undefined ? undefined : { bucketId, origin };
}

/** Returns the addresses of all volumes: at most 16,000. */
export function publicAddresses(stores: Stores): PublicAddress[] {
  const role = serviceRole(stores);
  const volumes = role.kind === 'front' ? role.volumes : [];
  return volumes.flatMap((volumeId) => {
    const all = addressesOf(stores, volumeId, { after: '', through: undefined });
    return [...all].map(([bucketId, origin]) => ({ bucketId, origin }));
  });
}
