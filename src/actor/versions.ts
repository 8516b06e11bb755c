// Actor methods over former versions of files.

import { entityTag } from '../domain/files/files.ts';
import { eraseVersions, listVersions, restoreVersion } from '../domain/files/version-access.ts';
import type { FormerVersion } from '../domain/files/versions.ts';
import { answer, currentCall } from './call.ts';
import { ResultFile } from './candid.ts';
import {
  Erasure,
  Restoration,
  ResultErasure,
  ResultVersions,
  VersionList,
} from './candid-operations.ts';
import { replyFile } from './file-reply.ts';
import { query, update } from './method.ts';
import { numberOf, type Optional, optional, prefixOf } from './optional.ts';
import { stores } from './runtime.ts';
import {
  type ErasureArgument,
  erasureOf,
  type RestorationArgument,
  restorationOf,
} from './version-arguments.ts';

interface ListArgument {
  bucketId: string;
  path: Optional<string>;
  prefix: Optional<string>;
  cursor: Optional<string>;
  limit: Optional<bigint>;
  apiKey: Optional<string>;
}

function versionView({ file, retiredAtNs, expiresAtNs }: FormerVersion) {
  const { path, version, size, contentType, updatedAtNs } = file;
  const times = { updatedAt: updatedAtNs, retiredAt: retiredAtNs, expiresAt: expiresAtNs };
  return { path, version, size, contentType, etag: entityTag(file).slice(1, -1), ...times };
}

/** Former versions: in buckets that keep them, by `keepVersionsDays`. */
export class VersionsActor {
  /** By path, the oldest first. */
  @query([VersionList], ResultVersions)
  listVersions(argument: ListArgument) {
    return answer(() => {
      const { items, nextCursor } = listVersions(stores, currentCall(), {
        bucket: argument.bucketId,
        path: argument.path[0],
        prefix: prefixOf(argument.prefix),
        cursor: argument.cursor[0],
        limit: numberOf(argument.limit),
        apiKey: argument.apiKey[0],
      });
      return { items: items.map(versionView), nextCursor: optional(nextCursor) };
    });
  }

  /** ok is the record of the file that the version has become. */
  @update([Restoration], ResultFile, { manual: true })
  restoreVersion(): void | Promise<void> {
    const signature = { name: 'restoreVersion', parameters: [Restoration] };
    return replyFile(signature, (argument: RestorationArgument) => {
      return restoreVersion(stores, currentCall(), restorationOf(argument)).file;
    });
  }

  /** Up to 1,000 a call: once more until it is done. */
  @update([Erasure], ResultErasure)
  eraseVersions(argument: ErasureArgument) {
    return answer(() => eraseVersions(stores, currentCall(), erasureOf(argument)));
  }
}
