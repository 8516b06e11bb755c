// `efs mirror --verify --bytes`: downloads the versions of a mirror and computes their entity tags.

import { createHash, type Hash } from 'node:crypto';
import { etagOf, likelyChunkBytes } from '../../../client/src/bytes/digest.ts';
import { inParallel } from '../../../client/src/connection/parallel.ts';
import { UsageError } from '../output/usage-error.ts';
import { type PathStates, stateAt } from './bucket-states.ts';
import type { MirrorFlags } from './mirror-job.ts';
import type { Sides } from './mirror-sides.ts';
import type { PathState, StoredVersion } from './path-plan.ts';

interface Reading {
  readonly here: PathStates;
  readonly there: PathStates;
  readonly concurrency: number;
}

interface Difference {
  readonly path: string;
  readonly reason: string;
}

/** `paths`: those whose versions are equal in both states. */
export async function wrongBytes(
  sides: Sides,
  paths: readonly string[],
  { here, there, concurrency }: Reading,
): Promise<Difference[]> {
  const { source, keepsVersions } = sides;
  const differences: Difference[] = [];
  const left = paths[Symbol.iterator]();
  await inParallel({ concurrency, signal: source.signal }, async (stopped) => {
    for (const path of left) {
      if (stopped.aborted) return;
      const wanted = versionsIn(stateAt(here, path), keepsVersions);
      const stored = versionsIn(stateAt(there, path), keepsVersions);
      for (const [index, version] of wanted.entries()) {
        const number = stored[index]?.version ?? 0;
        if ((await etagThere(sides, version, number)) === version.etag) continue;
        const reason = `the bytes of its version of ${version.updatedAt} differ from their digest`;
        differences.push({ path, reason });
      }
    }
  });
  return differences;
}

export function requireReadable({ target }: Sides, { bytes, verify }: MirrorFlags): void {
  if (!bytes || (verify && target.read !== undefined)) return;
  if (!verify) throw new UsageError('--bytes only has a meaning with --verify: add it.');
  throw new UsageError(
    '--bytes is for a mirror in S3: another service verifies its digests itself, so use --verify.',
  );
}

function versionsIn({ former, present }: PathState, keepsVersions: boolean): StoredVersion[] {
  return [...(keepsVersions ? former : []), ...(present === undefined ? [] : [present])];
}

async function etagThere(
  { source, target }: Sides,
  version: StoredVersion,
  number: number,
): Promise<string | undefined> {
  const bytes = await target.read?.(version.path, number);
  if (bytes === undefined) return undefined;
  return etagOf(await chunkDigests(bytes, await chunkBytesOf(source, version)));
}

/** Lists of former versions have no chunk length. */
async function chunkBytesOf(
  { storage, bucket, signal }: Sides['source'],
  version: StoredVersion,
): Promise<number> {
  if (!version.etag.includes('-')) return Number.POSITIVE_INFINITY;
  const { path, version: number } = version;
  const record = await storage.stat({ bucket, path }, { version: number, signal });
  return record.chunkSize ?? likelyChunkBytes(record) ?? Number.POSITIVE_INFINITY;
}

async function chunkDigests(
  bytes: AsyncIterable<Uint8Array>,
  chunkBytes: number,
): Promise<Uint8Array[]> {
  const digests: Uint8Array[] = [];
  let hash: Hash | undefined;
  let hashed = 0;
  const endChunk = () => {
    if (hash !== undefined) digests.push(hash.digest());
    hash = undefined;
    hashed = 0;
  };
  for await (const more of bytes) {
    for (let at = 0; at < more.length; ) {
      const piece = more.subarray(at, at + chunkBytes - hashed);
      hash = (hash ?? createHash('sha256')).update(piece);
      hashed += piece.length;
      at += piece.length;
      if (hashed === chunkBytes) endChunk();
    }
  }
  endChunk();
  return digests;
}
