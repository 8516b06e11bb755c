// Sentences about rules of a bucket and about retention.

import type { Retention, RetentionRule } from '../../packages/client/src/types/retention.ts';
import type { BucketRule } from '../../packages/client/src/types/rules.ts';
import { isHeld } from './files/held.ts';
import { texts } from './language.ts';
import { momentOf } from './words.ts';

export const ruleActions = [
  'deleteAfterDays',
  'keepVersions',
  'eraseVersionsAfterDays',
  'endUploadsAfterHours',
] as const;

export type RuleAction = (typeof ruleActions)[number];

/** Returns what a rule applies to, such as `Paths that begin with “logs/”`. */
export function scopeWords({ prefix = '', tag }: Pick<BucketRule, 'prefix' | 'tag'>): string {
  const { whole, prefix: begin, withTag } = texts().rules.scope;
  const place = prefix === '' ? whole : begin(prefix);
  return tag === undefined ? place : withTag(place, tag);
}

/** Returns a sentence for each action of the rule. */
export function ruleWords(rule: BucketRule): string {
  const { does, disabled } = texts().rules;
  const sentences = ruleActions.flatMap((action) => {
    const count = rule[action];
    return count === undefined ? [] : [does[action](count)];
  });
  return [...(rule.isEnabled === false ? [disabled] : []), ...sentences].join(' ');
}

export function retentionWords({ mode, days }: RetentionRule): string {
  return texts().retention.does[mode](days);
}

/** Returns how a version is protected, in sentences; '' if it is not. */
export function protectionWords(retention: Retention | undefined): string {
  const { retained, held } = texts().protection;
  const { mode, retainUntil, hold } = retention ?? {};
  if (!isHeld(retention)) return '';
  const isRetained = isHeld(retention && { ...retention, hold: false });
  return [
    ...(mode && retainUntil && isRetained ? [retained[mode](momentOf(retainUntil))] : []),
    ...(hold ? [held] : []),
  ].join(' ');
}
