// The public buckets of a front's volumes, to which it redirects from `/b/{bucket}`. Volumes report
// them. A name that two volumes report belongs to the first one, until that volume reports that the
// bucket is no longer public or leaves the list. In the directory:
//
//   17 | volume id | 0 | bucket id | 0 | the volume's origin -> 0
//   18 | bucket id | 0 | volume id                           -> 0

import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { publicAddressCountMax } from '../../limits.ts';
import { entriesUnder } from '../../storage/index-ranges.ts';
import type { IdRange } from '../shared/heap-state.ts';
import type { PublicAddress } from '../shared/publication.ts';
import { serviceRole } from '../shared/role-record.ts';
import type { Stores } from '../shared/stores.ts';

const kinds = { ofVolume: 17, owner: 18 } as const;

function keyOf(kind: number, ...texts: string[]): Uint8Array {
  return concatBytes(Uint8Array.of(kind), encodeUtf8(texts.join('\0')));
}

function textsOf(key: Uint8Array): string[] {
  return (decodeUtf8(key.subarray(1)) ?? '').split('\0');
}

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
  let room = publicAddressCountMax - countOf(stores, volumeId);
  for (const bucketId of reported) {
    const former = stored.get(bucketId);
    if (former === report.origin) continue;
    if (former !== undefined) remove(stores, volumeId, { bucketId, origin: former });
    else if (room <= 0 || ownerOf(stores, bucketId) !== undefined) continue;
    else room -= 1;
    add(stores, volumeId, { bucketId, origin: report.origin });
  }
}

function countOf({ directory }: Stores, volumeId: string): number {
  return directory.rank(endOf(volumeId)) - directory.rank(keyOf(kinds.ofVolume, volumeId, ''));
}

/** Returns the origins of the volume's buckets in the range, by their ids. */
function addressesOf(
  { directory }: Stores,
  volumeId: string,
  { after, through }: IdRange,
): Map<string, string> {
  // No id contains byte 1, so this key follows directly after the entries of the id.
  const keyAfter = (id: string) => keyOf(kinds.ofVolume, volumeId, `${id}\x01`);
  const start = directory.rank(keyAfter(after));
  const end = directory.rank(through === undefined ? endOf(volumeId) : keyAfter(through));
  const entries = end > start ? directory.read(start, end - start) : [];
  const texts = entries.map(({ key }) => textsOf(key));
  return new Map(texts.map(([, bucketId = '', origin = '']) => [bucketId, origin]));
}

/** Follows all keys of the volume's buckets. */
function endOf(volumeId: string): Uint8Array {
  return concatBytes(keyOf(kinds.ofVolume, volumeId, ''), Uint8Array.of(0xff));
}

function ownerOf({ directory }: Stores, bucketId: string): string | undefined {
  const scope = keyOf(kinds.owner, bucketId, '');
  const [entry] = entriesUnder(directory, { scope, limit: 1 });
  return entry && textsOf(entry.key)[1];
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
  const scope = keyOf(kinds.ofVolume, volumeId, bucketId, '');
  const [entry] = entriesUnder(stores.directory, { scope, limit: 1 });
  const [, , origin] = entry === undefined ? [] : textsOf(entry.key);
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
