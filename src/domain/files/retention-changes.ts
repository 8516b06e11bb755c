// Changes of a version's retention and hold, present or former, by owners and by keys with the
// permission `retain`. Number, dates, bytes and certified answers of the version stay.

import type { Bucket } from '../buckets/buckets.ts';
import { authorize, type Grant, type SentKey } from '../rights/rights.ts';
import type { Call } from '../shared/caller.ts';
import { parseFilePath, quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import { parseRetainUntil, parseRetentionMode, type Retention } from '../shared/retention.ts';
import { nextContentId, type Stores } from '../shared/stores.ts';
import { encodeFile, fileMapKey, sealFile } from './file-layout.ts';
import {
  type FileRecord,
  findFile,
  noteFile,
  type OpenFile,
  withOpenFile,
} from './file-records.ts';
import { refuseMissing } from './files.ts';
import { requireNotHeld } from './retention.ts';
import { replaceRecord } from './version-entries.ts';
import { type FormerVersion, findVersion, resumeExpiry } from './version-records.ts';
import { noSuchVersion, withFormer } from './versions.ts';
import { shownToWriter, type WrittenFile } from './written-files.ts';

interface NamedVersion {
  readonly bucket: string;
  readonly path: string;
  /** Absent: the present version. */
  readonly version?: number | undefined;
  readonly apiKey: SentKey;
}

export interface RetentionChange extends NamedVersion {
  /** Without mode and time, the retention ends. */
  readonly mode?: string | undefined;
  readonly retainUntilNs?: bigint | undefined;
  /** Shortens or ends a retention in governance mode. */
  readonly bypassesGovernance?: boolean | undefined;
}

export interface HoldChange extends NamedVersion {
  readonly hasHold: boolean;
}

interface Prepared {
  readonly grant: Grant;
  readonly bucket: Bucket;
  readonly file: FileRecord;
  readonly former: FormerVersion | undefined;
  /** The retention to store. */
  readonly retention: Retention | undefined;
}

/** Refuses what setRetention() would refuse, except for a damaged file; changes nothing. */
export function checkRetentionChange(
  stores: Stores,
  call: Call,
  change: RetentionChange,
): Prepared {
  const found = findNamed(stores, call, change);
  const { nowNs } = call;
  const sent = parseSent(change, nowNs);
  const { retention: present } = found.file;
  const hasHold = present?.hasHold === true;
  if (!isLengthened(present, sent)) {
    // The hold protects the version, not its retention
    const { bypassesGovernance } = change;
    const file = { ...found.file, retention: present && { ...present, hasHold: false } };
    requireNotHeld(file, { nowNs, bypassesGovernance, remedy: 'It can be lengthened.' });
  }
  return { ...found, retention: retentionOf(sent, hasHold) };
}

type Sent = Pick<Retention, 'mode' | 'untilNs'>;

function parseSent({ mode, retainUntilNs }: RetentionChange, nowNs: bigint): Sent {
  if (mode === undefined && retainUntilNs === undefined) return { untilNs: 0n };
  if (mode === undefined || retainUntilNs === undefined) {
    throw new Refusal(
      'InvalidArgument',
      'A retention has a mode and a time: send both, or neither to end the retention.',
    );
  }
  return { mode: parseRetentionMode(mode), untilNs: parseRetainUntil(retainUntilNs, nowNs) };
}

/** Whether the sent retention protects at least as much as the present one. */
function isLengthened(present: Retention | undefined, sent: Sent): boolean {
  if (present?.mode === undefined) return true;
  const isWeaker = present.mode === 'compliance' && sent.mode !== 'compliance';
  return !isWeaker && sent.untilNs >= present.untilNs;
}

function retentionOf(sent: Sent, hasHold: boolean): Retention | undefined {
  return sent.mode === undefined && !hasHold ? undefined : { ...sent, hasHold };
}

/** Refuses what setHold() would refuse, except for a damaged file; changes nothing. */
export function checkHoldChange(stores: Stores, call: Call, change: HoldChange): Prepared {
  const found = findNamed(stores, call, change);
  const { mode, untilNs = 0n } = found.file.retention ?? {};
  return { ...found, retention: retentionOf({ mode, untilNs }, change.hasHold) };
}

function findNamed(
  stores: Stores,
  call: Call,
  { bucket: name, path: sent, version, apiKey }: NamedVersion,
): Omit<Prepared, 'retention'> {
  const claim = { bucket: name, path: sent, permission: 'retain', apiKey } as const;
  const grant = authorize(stores, call, claim);
  const { bucket } = grant;
  const path = parseFilePath(sent);
  const present = findFile(stores, bucket.id, path);
  if (version === undefined || present?.version === version) {
    const file = present ?? refuseMissing(bucket, path);
    requireConverted(file);
    return { grant, bucket, file, former: undefined };
  }
  const former = findVersion(stores, { bucketId: bucket.id, path, version });
  if (former === undefined) throw noSuchVersion({ path: sent, version });
  return { grant, bucket, file: former.file, former };
}

/** Refuses a file that the upgrade has not converted: it would overlook a record sealed again. */
export function requireConverted({ path, leavesVersion, contentId }: FileRecord): void {
  if (leavesVersion !== 1 || contentId === 0) return;
  throw new Refusal(
    'SlowDown',
    `The upgrade has not converted ${quote(path)} yet: try again in a few minutes.`,
  );
}

/** Sets or ends the retention of a version. */
export function setRetention(stores: Stores, call: Call, change: RetentionChange): WrittenFile {
  return saveRetention(stores, call, checkRetentionChange(stores, call, change));
}

/** Sets or removes the legal hold of a version. */
export function setHold(stores: Stores, call: Call, change: HoldChange): WrittenFile {
  return saveRetention(stores, call, checkHoldChange(stores, call, change));
}

/** Seals the record again with the retention. */
function saveRetention(stores: Stores, call: Call, prepared: Prepared): WrittenFile {
  const { grant, bucket, file: named, former, retention } = prepared;
  const { nowNs } = call;
  const save = ({ file: old, key }: OpenFile) => {
    const file: FileRecord = { ...old, retention };
    const mapKey = fileMapKey(bucket.id, file.path);
    const record = encodeFile(file, { number: nextContentId(stores), timeNs: nowNs });
    sealFile(record, mapKey, key);
    const name = { bucketId: bucket.id, path: file.path, version: file.version };
    if (former === undefined) stores.records.set(mapKey, record, file.size);
    else replaceRecord(stores, name, record);
    if (former !== undefined && retention?.hasHold !== true) {
      const { untilNs = 0n } = retention ?? {};
      resumeExpiry(stores, name, untilNs > nowNs ? untilNs : nowNs);
    }
    noteFile(stores, 'hold.changed', file);
    return { file, record, isNew: false };
  };
  const saved =
    former === undefined
      ? withOpenFile(stores, { bucket, path: named.path }, save)
      : withFormer(stores, { bucket, former }, save);
  return shownToWriter(grant, saved ?? refuseMissing(bucket, named.path), []);
}
