// Carries out the rules of buckets, in bounded steps of a timer. A pass over a bucket sets the
// expiry of its former versions, if its rules have changed, then ends uploads, and then goes
// through its rules. The index of dates finds the oldest file of a rule, so a rule without due
// files costs the same in a large bucket, and storing a file costs nothing more. The state of a
// pass is on the heap; after an upgrade the pass begins anew, and finds only what is left.

import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { ruleChecksPerMessage, ruledFilesPerMessage, rulePassedOverMax } from '../../limits.ts';
import { type Bucket, findBucket } from '../buckets/buckets.ts';
import { dueBucket, setRuleCheck } from '../buckets/rule-times.ts';
import { applies, findRules, type Rule, strictest } from '../buckets/rules.ts';
import { createWorkLimit, leavesOfDeletion, type WorkLimit } from '../files/bulk-work.ts';
import { type FileRecord, findFile, removeFile } from '../files/file-records.ts';
import { requireRetirable } from '../files/version-records.ts';
import { isWalking, walkVersions } from '../files/version-rules.ts';
import { readByDate } from '../listing/date-order.ts';
import { scopeOf } from '../listing/file-index.ts';
import type { RulePass } from '../shared/heap-state.ts';
import { Refusal, valueOrRefusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { openUploadsOf } from '../uploads/open-uploads.ts';
import { doomUpload } from '../uploads/upload-expiry.ts';
import { findSession } from '../uploads/upload-session.ts';

const nsPerHour = 3_600_000_000_000n;
const nsPerDay = 24n * nsPerHour;

/** The work that is left for this message. */
interface Work {
  readonly nowNs: bigint;
  readonly leaves: WorkLimit;
  checks: number;
  files: number;
  /** Whether a file of the present rule was due, so that more may be. */
  isDue: boolean;
  /** The rules of the last bucket. */
  last: Ruled | undefined;
}

/** Runs one bounded step; true while more is due. */
export function actOnRules(stores: Stores, nowNs: bigint): boolean {
  const leaves = createWorkLimit();
  const counts = { checks: ruleChecksPerMessage, files: ruledFilesPerMessage };
  const work: Work = { nowNs, leaves, ...counts, isDue: false, last: undefined };
  for (;;) {
    const bucketId = dueBucket(stores, nowNs);
    if (bucketId === undefined) return false;
    if (work.checks <= 0 || work.files <= 0) return true;
    continuePass(stores, bucketId, work);
  }
}

/** Does the next part of the bucket's pass, and notes the time of the next one at its end. */
function continuePass(stores: Stores, bucketId: string, work: Work): void {
  if (isWalking(stores, bucketId)) {
    walkVersions(stores, bucketId, work.nowNs);
    work.checks = 0;
    return;
  }
  if (work.last?.bucketId !== bucketId) {
    work.last = { bucketId, rules: findRules(stores, bucketId) };
  }
  const { rules } = work.last;
  const pass = stores.heap.rulePass;
  const isBegun = pass?.bucketId === bucketId;
  const present = isBegun ? pass : beginPass(stores, { bucketId, rules }, work);
  const rule = rules[present.rule];
  const bucket = findBucket(stores, bucketId);
  work.checks -= 1;
  if (bucket === undefined || rule === undefined) {
    stores.heap.rulePass = undefined;
    setRuleCheck(stores, bucketId, bucket && present.checkAtNs);
    return;
  }
  const left = deleteDue(stores, { bucket, rule, pass: present }, work);
  if (left.rule !== present.rule) work.isDue = false;
  stores.heap.rulePass = left;
}

interface Ruled {
  readonly bucketId: string;
  readonly rules: readonly Rule[];
}

/** Ends the uploads that are due. */
function beginPass(stores: Stores, { bucketId, rules }: Ruled, work: Work): RulePass {
  const { nowNs } = work;
  const ending = rules.filter(
    ({ isEnabled, endUploadsAfterHours }) => isEnabled && endUploadsAfterHours !== undefined,
  );
  const hours = strictest(ending, 'endUploadsAfterHours');
  const begun = { bucketId, rule: 0, skipped: 0 };
  if (hours === undefined) return { ...begun, checkAtNs: undefined };
  work.checks -= 1;
  // An upload that begins later is due later
  let checkAtNs = nowNs + BigInt(hours) * nsPerHour;
  for (const { uploadId } of openUploadsOf(stores, bucketId)) {
    const session = findSession(stores, uploadId);
    if (session === undefined) continue;
    const applied = ending.filter((rule) => applies(rule, session));
    const own = strictest(applied, 'endUploadsAfterHours');
    if (own === undefined) continue;
    const dueNs = session.createdAtNs + BigInt(own) * nsPerHour;
    if (dueNs <= nowNs) doomUpload(stores, uploadId);
    else if (dueNs < checkAtNs) checkAtNs = dueNs;
  }
  return { ...begun, checkAtNs };
}

interface RulePart {
  readonly bucket: Bucket;
  readonly rule: Rule;
  readonly pass: RulePass;
}

/** Deletes the rule's oldest files while they are due; returns the pass after that. */
function deleteDue(stores: Stores, { bucket, rule, pass }: RulePart, work: Work): RulePass {
  const { isEnabled, deleteAfterDays, prefix, tag = '' } = rule;
  if (!isEnabled || deleteAfterDays === undefined) return afterRule(pass, undefined);
  const { nowNs } = work;
  const ageNs = BigInt(deleteAfterDays) * nsPerDay;
  const scope = scopeOf(bucket.id, tag);
  const selection = { bucketId: bucket.id, scope, prefix: encodeUtf8(prefix) };
  const { skipped: skip } = pass;
  // Most checks find no due file, so only the first path is read until one is due
  const limit = work.isDue ? work.files : 1;
  const paths = readByDate(stores, selection, { skip, limit, isDescending: false });
  let { skipped } = pass;
  let left = bucket;
  for (const path of paths) {
    const file = findFile(stores, bucket.id, decodeUtf8(path) ?? '');
    const dueNs = file && file.updatedAtNs + ageNs;
    if (dueNs !== undefined && dueNs > nowNs) return afterRule({ ...pass, skipped }, dueNs, nowNs);
    work.isDue = true;
    const leaves = file === undefined ? 0 : leavesOfDeletion(stores, left, file);
    if (!work.leaves.fits(leaves)) {
      work.files = 0;
      return { ...pass, skipped };
    }
    const without = file && removeByRule(stores, left, { file, nowNs });
    if (without !== undefined) work.leaves.spend(leaves);
    else skipped += 1;
    left = without ?? left;
    work.files -= 1;
    // Each check begins with the same files again, so their number is bounded
    if (skipped >= rulePassedOverMax) return afterRule({ ...pass, skipped }, undefined, nowNs);
  }
  if (paths.length === limit) return { ...pass, skipped };
  // A file that is stored later is due later
  return afterRule({ ...pass, skipped }, nowNs + ageNs, nowNs);
}

/** Returns the pass at the next rule. Files that could not be deleted are tried a day later. */
function afterRule(pass: RulePass, checkAtNs: bigint | undefined, nowNs = 0n): RulePass {
  const retryNs = pass.skipped > 0 ? nowNs + nsPerDay : undefined;
  const times = [pass.checkAtNs, checkAtNs, retryNs].filter((time) => time !== undefined);
  const earliest = times.reduce<bigint | undefined>(
    (least, time) => (least === undefined || time < least ? time : least),
    undefined,
  );
  return { ...pass, rule: pass.rule + 1, skipped: 0, checkAtNs: earliest };
}

/**
 * Deletes the file as a deletion by its owner does, and returns the changed bucket. Returns
 * undefined for a file that must stay: its age is unknown because its record is damaged, or it is
 * held and the bucket stores no former versions.
 */
function removeByRule(
  stores: Stores,
  bucket: Bucket,
  { file, nowNs }: { readonly file: FileRecord; readonly nowNs: bigint },
): Bucket | undefined {
  if (file.contentId === 0) return undefined;
  const without = valueOrRefusal(() =>
    removeFile(stores, bucket, requireRetirable(bucket, file, { nowNs }), nowNs),
  );
  return without instanceof Refusal ? undefined : without;
}
