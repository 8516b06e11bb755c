// Ids of versions: the version's number in the service and the time at which it was stored, because
// a number can be reused once no version is left at its path.

import type { FileRecord } from '../../client/src/types/files.ts';
import { S3Error } from './s3-error.ts';

interface VersionId {
  readonly number: number;
  /** Undefined if the id is only a number, as `efs versions ls` shows it. */
  readonly stamp: string | undefined;
}

type Version = Pick<FileRecord, 'version' | 'updatedAt'>;

function stampOf({ updatedAt }: Version): string {
  return Date.parse(updatedAt).toString(36);
}

/** Returns the id of a record, or of a former version as lists show it. */
export function idOfVersion(version: Version): string {
  return `${version.version}-${stampOf(version)}`;
}

/** Returns undefined for no id and for `null`, the present version; throws InvalidArgument. */
export function parseVersionId(text: string | undefined): VersionId | undefined {
  if (text === undefined || text === 'null') return undefined;
  const [, digits, stamp] = /^(\d{1,15})(?:-([0-9a-z]{1,12}))?$/.exec(text) ?? [];
  if (digits !== undefined) return { number: Number(digits), stamp };
  throw new S3Error(
    'InvalidArgument',
    'The version id is invalid: use an id that ListObjectVersions returned.',
  );
}

export function isVersion({ number, stamp }: VersionId, version: Version): boolean {
  return number === version.version && (stamp === undefined || stamp === stampOf(version));
}
