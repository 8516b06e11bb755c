// Actor methods for former versions of files.

import { IDL } from '@dfinity/candid';
import { msgReply } from 'azle';
import { entityTag, partsOfFile } from '../../domain/files/file-records.ts';
import { eraseVersions } from '../../domain/files/version-erasure.ts';
import type { FormerVersion } from '../../domain/files/version-records.ts';
import {
  getVersion,
  listVersions,
  readVersionPart,
  restoreVersion,
} from '../../domain/files/versions.ts';
import {
  Erasure,
  Restoration,
  ResultErasure,
  ResultVersions,
  VersionList,
} from '../candid/operations.ts';
import { ResultBytes, ResultFile } from '../candid/types.ts';
import { decodeArguments, query, update } from '../dispatch/method.ts';
import { encodeBytesResult } from '../messages/file-messages.ts';
import { encodeFileResult } from '../messages/file-record-messages.ts';
import { replyBytes } from '../messages/native-reply.ts';
import { numberOf, type Optional, optional, prefixOf } from '../messages/optional.ts';
import { retentionFields } from '../messages/retention-arguments.ts';
import {
  type ErasureArgument,
  erasureOf,
  type RestorationArgument,
  restorationOf,
} from '../messages/version-arguments.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';
import { replyFile } from './file-reply.ts';

interface ListArgument {
  bucketId: string;
  path: Optional<string>;
  prefix: Optional<string>;
  cursor: Optional<string>;
  limit: Optional<bigint>;
  apiKey: Optional<string>;
}

const { Text, Nat, Opt } = IDL;
const nameArguments = [Text, Text, Nat, Opt(Text)];
type NameArguments = [string, string, bigint, Optional<string>];
const readArguments = [Text, Text, Nat, Nat, Nat, Opt(Text)];
type ReadArguments = [string, string, bigint, bigint, bigint, Optional<string>];

function versionView({ file, retiredAtNs, expiresAtNs }: FormerVersion) {
  const { path, version, size, contentType, updatedAtNs } = file;
  const shown = { path, version, size, contentType, etag: entityTag(file).slice(1, -1) };
  const times = { updatedAt: updatedAtNs, retiredAt: retiredAtNs, expiresAt: expiresAtNs };
  const metadata = file.metadata.length === 0 ? [] : [file.metadata];
  return { ...shown, ...times, metadata, retention: retentionFields(file.retention) };
}

/** Former versions: replaced and deleted files of buckets with `keepVersionsDays`. */
export class VersionsActor {
  /** Lists former versions by path, the oldest first. */
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

  /**
   * (bucketId, path, version, apiKey) Returns the record of a version, present or former. Errors:
   * AccessDenied, NoSuchFile.
   */
  @query(nameArguments, ResultFile, { manual: true })
  getVersion(): void {
    const decoded = decodeArguments({ name: 'getVersion', parameters: nameArguments });
    if (decoded === undefined) return;
    const [bucket, path, version, [apiKey]] = decoded as unknown as NameArguments;
    const request = { bucket, path, version: Number(version), apiKey };
    const read = () => partsOfFile(getVersion(stores, currentCall(), request));
    msgReply(encodeFileResult(answer(read)));
  }

  /**
   * (bucketId, path, version, offset, length, apiKey) Returns up to 1,900,000 bytes of a version.
   */
  @query(readArguments, ResultBytes, { manual: true })
  readVersion(): void {
    const decoded = decodeArguments({ name: 'readVersion', parameters: readArguments });
    if (decoded === undefined) return;
    const [bucket, path, version, offset, length, [apiKey]] = decoded as unknown as ReadArguments;
    const request = { bucket, path, version: Number(version), offset, length, apiKey };
    const read = () => readVersionPart(stores, currentCall(), request);
    replyBytes(...encodeBytesResult(answer(read)));
  }

  /** Restores a former version; ok is the record of the file. */
  @update([Restoration], ResultFile, { manual: true })
  restoreVersion(): void | Promise<void> {
    const signature = { name: 'restoreVersion', parameters: [Restoration] };
    return replyFile(signature, (argument: RestorationArgument) => {
      return restoreVersion(stores, currentCall(), restorationOf(argument));
    });
  }

  /**
   * Erases up to 1,000 versions per call; call again with `nextCursor`. Held ones stay. If the
   * present version is named, the latest former version becomes the file; without former versions,
   * it is deleted.
   */
  @update([Erasure], ResultErasure)
  eraseVersions(argument: ErasureArgument) {
    return answer(() => {
      const erased = eraseVersions(stores, currentCall(), erasureOf(argument));
      return { ...erased, held: [BigInt(erased.held)], nextCursor: optional(erased.nextCursor) };
    });
  }
}
