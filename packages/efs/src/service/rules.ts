// `efs rule`: the rules of a bucket, which delete what is old.

import type { BucketRule, StoredRule } from '../../../client/src/types/rules.ts';
import type { Run } from '../config/run.ts';
import { type Column, formatTable, printJson, printLine, printResult } from '../output/output.ts';
import { UsageError } from '../output/usage-error.ts';

export interface RuleFlags {
  readonly id?: string;
  readonly prefix?: string;
  readonly tag?: string;
  readonly deleteAfter?: number;
  readonly keepVersions?: number;
  readonly eraseVersionsAfter?: number;
  readonly endUploadsAfter?: number;
  readonly disabled?: boolean;
}

const columns: readonly Column<StoredRule>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'PREFIX', value: ({ prefix }) => prefix },
  { title: 'TAG', value: ({ tag = '' }) => tag },
  { title: 'ACTIONS', value: (rule) => actionsOf(rule) },
];

function actionsOf(rule: StoredRule): string {
  const { deleteAfterDays, keepVersions, eraseVersionsAfterDays, endUploadsAfterHours } = rule;
  const actions = [
    rule.isEnabled ? undefined : 'disabled',
    deleteAfterDays && `delete after ${deleteAfterDays} d`,
    keepVersions && `keep ${keepVersions} versions`,
    eraseVersionsAfterDays && `erase versions after ${eraseVersionsAfterDays} d`,
    endUploadsAfterHours && `end uploads after ${endUploadsAfterHours} h`,
  ];
  return actions.filter((action) => action !== undefined).join(', ');
}

export async function addRule(run: Run, bucket: string, flags: RuleFlags): Promise<void> {
  const { rules } = await run.manager();
  // A rule that one node leaves out would be removed
  const present = await rules.list(bucket, { certified: true });
  const ids = new Set(present.map(({ id }) => id));
  const id = flags.id ?? freeId(ids);
  if (ids.has(id)) {
    throw new UsageError(
      `Bucket ${bucket} already has a rule ${id}: choose another --id, or remove it by efs rule rm.`,
    );
  }
  const rule: BucketRule = {
    id,
    isEnabled: flags.disabled !== true,
    prefix: flags.prefix,
    tag: flags.tag,
    deleteAfterDays: flags.deleteAfter,
    keepVersions: flags.keepVersions,
    eraseVersionsAfterDays: flags.eraseVersionsAfter,
    endUploadsAfterHours: flags.endUploadsAfter,
  };
  await rules.set(bucket, [...present, rule]);
  printResult({ id }, id);
}

function freeId(ids: ReadonlySet<string>): string {
  let number = 1;
  while (ids.has(`rule-${number}`)) number += 1;
  return `rule-${number}`;
}

export async function listRules(
  run: Run,
  bucket: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const rules = await (await run.manager()).rules.list(bucket);
  if (json) printJson(rules);
  else if (rules.length > 0) printLine(formatTable(rules, columns));
}

export async function removeRules(run: Run, bucket: string, ids: readonly string[]): Promise<void> {
  const { rules } = await run.manager();
  // A rule that one node leaves out would be removed
  const present = await rules.list(bucket, { certified: true });
  const missing = ids.find((id) => !present.some((rule) => rule.id === id));
  if (missing !== undefined) {
    throw new UsageError(
      `Bucket ${bucket} has no rule ${missing}: efs rule ls ${bucket} shows its rules.`,
    );
  }
  await rules.set(
    bucket,
    present.filter(({ id }) => !ids.includes(id)),
  );
  for (const id of ids) printResult({ id }, id);
}
