// Converts Candid records to the JSON interface: nat to number, times to ISO 8601, opt to optional.

import type { ApiKey, BudgetLeft, FormerVersion, Rule } from '../candid/file_storage.did.ts';
import type { BucketRecord } from '../types/buckets.ts';
import type { EndToEndRecord } from '../types/end-to-end.ts';
import type { FileRecord, StoredHeaders, UserMetadata } from '../types/files.ts';
import type { KeyRecord } from '../types/keys.ts';
import type { Retention, RetentionMode, RetentionRule } from '../types/retention.ts';
import type { StoredRule } from '../types/rules.ts';
import type { BudgetStatus, ServiceStatus } from '../types/service.ts';
import type { UploadSession, UploadStatus } from '../types/transfers.ts';
import type { FileVersion } from '../types/versions.ts';
import type {
  CandidBucket,
  CandidFile,
  CandidKey,
  CandidStatus,
  CandidUpload,
  Optional,
} from './candid-types.ts';

export function isoTime(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString();
}

export function optional<T>(value: T | undefined): Optional<T> {
  return value === undefined ? [] : [value];
}

type Nat<T> = T extends number ? bigint : T;

/** Makes each field an opt; numbers become nat. */
export function optionals<T extends object>(
  fields: T,
): { [Name in keyof T]: Optional<Nat<Exclude<T[Name], undefined>>> } {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    optional(typeof value === 'number' ? BigInt(value) : value),
  ]);
  return Object.fromEntries(entries);
}

export function optionalTime(time: Date | undefined): Optional<bigint> {
  return optional(time && BigInt(time.getTime()) * 1_000_000n);
}

export function pairsOf(
  fields: StoredHeaders | UserMetadata | undefined,
): Optional<[string, string][]> {
  return optional(fields && Object.entries<string>({ ...fields }));
}

export function fileRecordOf(file: CandidFile): FileRecord {
  const { size, chunkSize, version, createdAt, updatedAt, sha256, ...others } = file;
  const { metadata, retention, ...rest } = others;
  const [pairs = []] = metadata;
  return {
    ...rest,
    size: Number(size),
    chunkSize: chunkSize[0] === undefined ? undefined : Number(chunkSize[0]),
    sha256: sha256[0],
    metadata: pairs.length === 0 ? undefined : Object.fromEntries(pairs),
    version: Number(version),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    retention: retentionOf(retention),
  };
}

function retentionOf([retention]: CandidFile['retention']): Retention | undefined {
  if (retention === undefined) return undefined;
  const { mode, retainUntil, hold } = retention;
  const [until] = retainUntil;
  return {
    mode: mode[0] as RetentionMode | undefined,
    retainUntil: until === undefined ? undefined : isoTime(until),
    hold,
  };
}

export function versionOf(former: FormerVersion): FileVersion {
  const [pairs] = former.metadata;
  return {
    ...former,
    metadata: pairs && Object.fromEntries(pairs),
    version: Number(former.version),
    size: Number(former.size),
    updatedAt: isoTime(former.updatedAt),
    retiredAt: isoTime(former.retiredAt),
    expiresAt: isoTime(former.expiresAt),
    retention: retentionOf(former.retention),
  };
}

export function sessionOf(upload: CandidUpload): UploadSession {
  return {
    ...upload,
    totalSize: Number(upload.totalSize),
    uploadedSize: Number(upload.uploadedSize),
    chunkSize: Number(upload.chunkSize[0]),
    isSizeKnown: upload.isSizeKnown[0] ?? true,
    chunkCount: Number(upload.chunkCount),
    receivedChunks: Number(upload.receivedChunks),
    missing: upload.missing.map(Number),
    status: upload.status as UploadStatus,
    createdAt: isoTime(upload.createdAt),
    updatedAt: isoTime(upload.updatedAt),
    expiresAt: isoTime(upload.expiresAt),
    fileId: upload.fileId[0],
  };
}

export function bucketRecordOf(bucket: CandidBucket): BucketRecord {
  const { id, owner, isPublic, fileCount, byteCount, quotaBytes, quotaFiles, members } = bucket;
  return {
    id,
    owner: owner.toText(),
    isPublic,
    isSite: bucket.isSite[0] ?? false,
    isListed: bucket.isListed[0] ?? false,
    fileCount: Number(fileCount),
    byteCount: Number(byteCount),
    overheadBytes: Number(bucket.overheadBytes[0] ?? 0),
    openUploads: Number(bucket.openUploads[0] ?? 0),
    quotaBytes: quotaBytes[0] === undefined ? undefined : Number(quotaBytes[0]),
    quotaFiles: quotaFiles[0] === undefined ? undefined : Number(quotaFiles[0]),
    keepVersionsDays: Number(bucket.keepVersionsDays[0] ?? 0),
    versionCount: Number(bucket.versionCount[0] ?? 0),
    versionBytes: Number(bucket.versionBytes[0] ?? 0),
    endToEnd: endToEndOf(bucket.endToEnd),
    retention: rulesOf(bucket.retention),
    callerRole: bucket.callerRole[0],
    members: members.map(({ principal, role, name: [name] }) => {
      return { principal: principal.toText(), role, ...(name !== undefined && { name }) };
    }),
    createdAt: isoTime(bucket.createdAt),
    updatedAt: isoTime(bucket.updatedAt),
  };
}

function rulesOf([rules]: CandidBucket['retention']): RetentionRule[] | undefined {
  return rules?.map(({ prefix, mode, days }) => {
    return { prefix: prefix[0], mode: mode as RetentionMode, days: Number(days) };
  });
}

export function endToEndOf([mode]: CandidBucket['endToEnd']): EndToEndRecord | undefined {
  return (
    mode && {
      ...mode,
      serial: mode.serial.toString(),
      epochs: mode.epochs.map(({ epoch, recipient, openedAt }) => {
        return { epoch: Number(epoch), recipient: recipient[0], openedAt: isoTime(openedAt) };
      }),
    }
  );
}

export function ruleRecordOf(rule: Rule): StoredRule {
  const { id, isEnabled, prefix, tag } = rule;
  return {
    id,
    isEnabled,
    prefix: prefix[0] ?? '',
    tag: tag[0],
    deleteAfterDays: countOf(rule.deleteAfterDays),
    keepVersions: countOf(rule.keepVersions),
    eraseVersionsAfterDays: countOf(rule.eraseVersionsAfterDays),
    endUploadsAfterHours: countOf(rule.endUploadsAfterHours),
  };
}

export function keyRecordOf(key: CandidKey): KeyRecord {
  const { id, hint, name, buckets, permissions, prefix, createdAt, expiresAt } = key;
  return {
    id,
    hint,
    name,
    buckets,
    permissions,
    prefix: prefix[0],
    createdAt: isoTime(createdAt),
    expiresAt: expiresAt[0] === undefined ? undefined : isoTime(expiresAt[0]),
    updatesPerHour: countOf(key.updatesPerHour),
    bytesPerHour: countOf(key.bytesPerHour),
    maxFileBytes: countOf(key.maxFileBytes),
    maxFiles: countOf(key.maxFiles),
    fileCount: countOf(key.fileCount),
  };
}

export function countOf([count]: Optional<bigint>): number | undefined {
  return count === undefined ? undefined : Number(count);
}

export function listedKeyOf(key: ApiKey): KeyRecord {
  return { ...keyRecordOf(key), createdBy: key.createdBy[0]?.toText() };
}

export function statusOf(status: CandidStatus): ServiceStatus {
  const { cycles, anonymousUpdates, linkUpdates, refusals, derivations } = status;
  return {
    ...status,
    buckets: Number(status.buckets),
    files: Number(status.files),
    bytesStored: Number(status.bytesStored),
    stableBytes: Number(status.stableBytes),
    heapBytes: Number(status.heapBytes),
    cycles: cycles[0] === undefined ? undefined : Number(cycles[0]),
    chargesCycles: status.chargesCycles[0],
    storageReservation: reservationOf(status.storageReservation),
    encryption: { ...status.encryption, proxy: status.encryption.proxy?.[0]?.toText() },
    anonymousUpdates: anonymousUpdates[0] && budgetOf(anonymousUpdates[0]),
    linkUpdates: linkUpdates[0] && budgetOf(linkUpdates[0]),
    refusals: refusals[0] && budgetOf(refusals[0]),
    derivations: derivations[0] && budgetOf(derivations[0]),
  };
}

function reservationOf([known]: CandidStatus['storageReservation']) {
  return (
    known && {
      reservedCycles: Number(known.reservedCycles),
      limitCycles: Number(known.limitCycles),
      readAt: isoTime(known.readAt),
    }
  );
}

function budgetOf({ burst, perMinute, left }: BudgetLeft): BudgetStatus {
  return { burst: Number(burst), perMinute: Number(perMinute), left: Number(left) };
}
