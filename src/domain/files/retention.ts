// The one check of retention and holds. Whatever destroys the bytes or the record of a version, or
// takes it from its path, passes the record through requireNotHeld() before it writes; removals
// then assert by requireReleased() that this was not forgotten.

import { assert } from '../../lib/assert.ts';
import { quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { FileRecord } from './file-fields.ts';
import { isoTime } from './file-view.ts';

/** The circumstances of a removal. */
export interface Release {
  readonly nowNs: bigint;
  /** Whether an owner ends retentions in governance mode explicitly; check that right first. */
  readonly bypassesGovernance?: boolean | undefined;
  /** A further remedy for the message. */
  readonly remedy?: string;
}

/** Whether retention or a hold protects the version at that time. */
export function isHeld({ retention }: Pick<FileRecord, 'retention'>, nowNs: bigint): boolean {
  return retention !== undefined && (retention.hasHold || retention.untilNs > nowNs);
}

/**
 * Refuses with FileHeld to replace, delete, erase, move or change a version that is held. Returns
 * the record without its retention, for whatever removes it.
 */
export function requireNotHeld(file: FileRecord, release: Release): FileRecord {
  const { retention } = file;
  if (retention === undefined) return file;
  const { nowNs, bypassesGovernance = false, remedy = '' } = release;
  const isBypassed = bypassesGovernance && retention.mode === 'governance' && !retention.hasHold;
  if (isHeld(file, nowNs) && !isBypassed) throw fileHeld(file, remedy);
  return { ...file, retention: undefined };
}

function fileHeld({ path, version, retention }: FileRecord, remedy: string): Refusal {
  const { mode, untilNs = 0n, hasHold } = retention ?? {};
  const until = isoTime(untilNs);
  const cannot = 'It cannot be replaced, deleted, moved or changed';
  const subject = `Version ${version} of ${quote(path)}`;
  const words = hasHold
    ? `${subject} has a legal hold. ${cannot} until an owner removes the hold (setHold).`
    : mode === 'compliance'
      ? `${subject} is retained in compliance mode until ${until}. ${cannot} before.`
      : `${subject} is retained in governance mode until ${until}. ${cannot} before, unless an ` +
        'owner sends bypassGovernance.';
  const details = hasHold ? { hold: 'legal' } : { mode: mode ?? '', retainUntil: until };
  return new Refusal('FileHeld', remedy === '' ? words : `${words} ${remedy}`, details);
}

/** Throws a defect unless requireNotHeld() returned the record. */
export function requireReleased({ retention }: Pick<FileRecord, 'retention'>): void {
  assert(retention === undefined, 'a removed version is not held');
}
