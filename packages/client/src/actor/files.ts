// Reads records, copies, moves, changes and deletes files through actor calls.

import type { CopyRequest, Deletion, FileOperations } from '../operations/files.ts';
import type { FileChange } from '../types/files.ts';
import { type ActorCalls, calling } from './actor-call.ts';
import { fileRecordOf, optional, optionals, pairsOf } from './candid-records.ts';
import { call, errorOfText } from './connection.ts';

export const fileCalls: ActorCalls<FileOperations> = {
  getFile: calling(
    ({ actor, key }, { bucket, path, version }) =>
      version === undefined
        ? actor.getFile(bucket, path, key)
        : actor.getVersion(bucket, path, BigInt(version), key),
    fileRecordOf,
  ),
  copyFile: calling(
    ({ actor, apiKey }, copy) => actor.copyFile(copyOf(copy, apiKey)),
    fileRecordOf,
  ),
  moveFile: calling(
    ({ actor, apiKey }, move) => actor.moveFile(copyOf(move, apiKey)),
    fileRecordOf,
  ),
  moveFiles: calling(
    ({ actor, apiKey }, { bucket, fromPrefix, toPrefix, cursor, bypassGovernance }) =>
      actor.moveFiles({
        ...{ bucketId: bucket, fromPrefix, toPrefix },
        ...optionals({ cursor, bypassGovernance, apiKey }),
      }),
    ({ moved, nextCursor, failed }) => {
      const shown = failed.map(({ path, error }) => ({ path, error: errorOfText(error) }));
      return { moved: Number(moved), nextCursor: nextCursor[0], failed: shown };
    },
  ),
  switchFiles: calling(
    ({ actor, apiKey }, { bucket, fromPrefix, toPrefix, deletes, ifResult }) =>
      actor.switchFiles({
        ...{ bucketId: bucket, fromPrefix, toPrefix },
        ...optionals({ deletes, ifResult, apiKey }),
      }),
    ({ moved, deleted }) => ({ moved: Number(moved), deleted: Number(deleted) }),
  ),
  changeFile: calling(
    ({ actor, apiKey }, { bucket, path, ifMatch, ...change }) =>
      actor.updateFile({
        ...{ ...notesOf(change), bucketId: bucket, path, ifNoneMatch: [] },
        ...optionals({ ifMatch, apiKey }),
      }),
    fileRecordOf,
  ),
  async deleteFile(service, { bucket, path, ifMatch, bypassGovernance }, signal) {
    if (ifMatch === undefined && bypassGovernance !== true) {
      await call(signal, () => service.actor.deleteFile(bucket, path, service.key));
      return undefined;
    }
    // The method `deleteFile` takes no options.
    const deletion = { bucket, paths: [path], ifMatch, bypassGovernance };
    const { results } = await fileCalls.deleteFiles(service, deletion, signal);
    const error = results[0]?.error;
    if (error !== undefined) throw error;
    return undefined;
  },
  deleteFiles: calling(
    ({ actor, apiKey }, { bucket, ...deletion }) =>
      actor.deleteFiles({
        bucketId: bucket,
        ...deletionOf(deletion),
        apiKey: optional(apiKey),
      }),
    ({ results, nextCursor }) => ({
      results: results.map(({ path, error: [text] }) => ({
        path,
        error: text === undefined ? undefined : errorOfText(text),
      })),
      nextCursor: nextCursor[0],
    }),
  ),
};

function deletionOf(deletion: Omit<Deletion, 'bucket'>) {
  const { paths, prefix, cursor, ifMatch, bypassGovernance } = deletion;
  return optionals({ paths, prefix, cursor, ifMatch, bypassGovernance });
}

function copyOf(request: CopyRequest, apiKey: string | undefined) {
  const { from, to, version, ifMatch, ifNoneMatch, ifSourceMatch, bypassGovernance } = request;
  return {
    ...{ ...notesOf(request), bucketId: from.bucket, from: from.path, to: to.path },
    toBucketId: optional(to.bucket),
    ...optionals({ version, ifMatch, ifNoneMatch, ifSourceMatch, bypassGovernance, apiKey }),
  };
}

type Notes = Pick<FileChange, 'contentType' | 'tags' | 'headers' | 'metadata'>;

function notesOf({ contentType, tags, headers, metadata }: Notes) {
  const pairs = { headers: pairsOf(headers), metadata: pairsOf(metadata) };
  return { ...optionals({ contentType, tags }), ...pairs };
}
