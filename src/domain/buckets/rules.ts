// The rules of a bucket, which delete files, former versions and unfinished uploads by their age:
// their record, and the parser of what owners send. administration/rule-work.ts carries them out.

import { decodeUtf8, encodeUtf8, hasControlCharacter } from '../../lib/text.ts';
import {
  filePathBytesMax,
  ruleCountMax,
  ruleDaysMax,
  ruleHoursMax,
  ruleIdLengthMax,
  ruleTextBytesMax,
  ruleVersionsMax,
} from '../../limits.ts';
import { packFields, requireVersion, unpackFields } from '../../storage/codec.ts';
import { parseTags, quote } from '../shared/names.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';

/** The actions of a rule, each with its number of days, versions or hours. */
const ruleActions = [
  { name: 'deleteAfterDays', max: ruleDaysMax },
  { name: 'keepVersions', max: ruleVersionsMax },
  { name: 'eraseVersionsAfterDays', max: ruleDaysMax },
  { name: 'endUploadsAfterHours', max: ruleHoursMax },
] as const;

type RuleAction = (typeof ruleActions)[number]['name'];

/** At least one action is present, and each number is at least 1. */
export interface Rule {
  /** Unique in the bucket. */
  readonly id: string;
  readonly isEnabled: boolean;
  /** Compared exactly with the stored paths; '' matches every path. */
  readonly prefix: string;
  /** Only files with this tag; undefined: all. */
  readonly tag: string | undefined;
  /** Deletes a file so many days after its last change. */
  readonly deleteAfterDays: number | undefined;
  /** Keeps so many former versions of a path, the latest ones. */
  readonly keepVersions: number | undefined;
  /** Erases a former version so many days after it became one. */
  readonly eraseVersionsAfterDays: number | undefined;
  /** Ends an unfinished upload so many hours after it began. */
  readonly endUploadsAfterHours: number | undefined;
}

/** A rule as owners send it. */
export type SentRule = Pick<Rule, 'id' | 'isEnabled'> & {
  readonly prefix?: string | undefined;
  readonly tag?: string | undefined;
} & { readonly [action in RuleAction]?: bigint | undefined };

// Small fields: version 1, number of rules; numbers of each rule: 1 if enabled, its actions in the
// order of ruleActions, 0 for an absent one; rest: texts of each rule: id, prefix, tag or ''.
// In the meta map; a bucket without rules has no record.
const version = 1;
const numbersPerRule = 1 + ruleActions.length;
const textsPerRule = 3;

function metaKey(bucketId: string): Uint8Array {
  return encodeUtf8(`rules/${bucketId}`);
}

/** Returns the rules in the order in which they were sent; none for a bucket without rules. */
export function findRules(stores: Stores, bucketId: string): Rule[] {
  const stored = stores.meta.get(metaKey(bucketId));
  if (stored === undefined) return [];
  requireVersion(stored, version);
  const count = stored[1] ?? 0;
  const { numbers, rest } = unpackFields(stored, { longs: 0, numbers: count * numbersPerRule });
  const texts = (decodeUtf8(rest) ?? '').split('\0');
  return Array.from({ length: count }, (_, index): Rule => {
    const number = index * numbersPerRule;
    const text = index * textsPerRule;
    return {
      id: texts[text] ?? '',
      isEnabled: numbers[number] === 1,
      prefix: texts[text + 1] ?? '',
      tag: texts[text + 2] || undefined,
      deleteAfterDays: numbers[number + 1] || undefined,
      keepVersions: numbers[number + 2] || undefined,
      eraseVersionsAfterDays: numbers[number + 3] || undefined,
      endUploadsAfterHours: numbers[number + 4] || undefined,
    };
  });
}

/** Replaces all rules of the bucket. */
export function saveRules(stores: Stores, bucketId: string, rules: readonly Rule[]): void {
  if (rules.length === 0) {
    stores.meta.delete(metaKey(bucketId));
    return;
  }
  const numbers = rules.flatMap((rule) => [
    rule.isEnabled ? 1 : 0,
    ...ruleActions.map(({ name }) => rule[name] ?? 0),
  ]);
  const texts = rules.flatMap(({ id, prefix, tag = '' }) => [id, prefix, tag]);
  const small = [version, rules.length];
  const rest = encodeUtf8(texts.join('\0'));
  stores.meta.set(metaKey(bucketId), packFields({ small, longs: [], numbers, rest }));
}

/** A file, a former version or an upload. */
interface Ruled {
  readonly path: string;
  readonly tags: readonly string[];
}

/** Whether the rule applies. */
export function applies(rule: Rule, { path, tags }: Ruled): boolean {
  if (!rule.isEnabled || !path.startsWith(rule.prefix)) return false;
  return rule.tag === undefined || tags.includes(rule.tag);
}

/** Returns the least number of that action among the rules; undefined if none has the action. */
export function strictest(rules: readonly Rule[], action: RuleAction): number | undefined {
  const numbers = rules.map((rule) => rule[action]).filter((number) => number !== undefined);
  return numbers.length === 0 ? undefined : Math.min(...numbers);
}

/** Returns the enabled rules that limit former versions. */
export function versionRules(rules: readonly Rule[]): Rule[] {
  return rules.filter(
    ({ isEnabled, keepVersions, eraseVersionsAfterDays }) =>
      isEnabled && (keepVersions ?? eraseVersionsAfterDays) !== undefined,
  );
}

/** Parses the rules of a bucket; refuses wrong ones with InvalidArgument. */
export function parseRules(sent: readonly SentRule[]): Rule[] {
  if (sent.length > ruleCountMax) {
    throw wrong(`A bucket has at most ${ruleCountMax} rules; got ${sent.length}: combine some.`);
  }
  const rules = sent.map(parseRule);
  const ids = new Set<string>();
  for (const { id } of rules) {
    if (ids.has(id)) throw wrong(`Two rules have the id ${quote(id)}: give each its own id.`);
    ids.add(id);
  }
  const texts = rules.flatMap(({ id, prefix, tag = '' }) => [id, prefix, tag]);
  const bytes = encodeUtf8(texts.join('')).length;
  if (bytes > ruleTextBytesMax) {
    throw wrong(
      `The ids, prefixes and tags of a bucket's rules have at most ${ruleTextBytesMax} bytes of UTF-8 in ` +
        `total; got ${bytes}: shorten them.`,
    );
  }
  return rules;
}

function parseRule({ id, isEnabled, prefix = '', tag, ...sent }: SentRule): Rule {
  const isName = id !== '' && id.length <= ruleIdLengthMax && isPlain(id);
  if (!isName) {
    throw wrong(
      `The id of a rule must have 1 to ${ruleIdLengthMax} characters and no control character; got ` +
        `${quote(id)}.`,
    );
  }
  const ofRule = `Rule ${quote(id)}`;
  const isTooLong =
    prefix.length > filePathBytesMax || encodeUtf8(prefix).length > filePathBytesMax;
  if (isTooLong || !isPlain(prefix)) {
    throw wrong(
      `${ofRule}: its prefix must have at most ${filePathBytesMax} bytes of UTF-8 and no control ` +
        `character; got ${quote(prefix)}.`,
    );
  }
  if (prefix.startsWith('/')) {
    throw wrong(`${ofRule}: paths begin without a slash: omit it in the prefix ${quote(prefix)}.`);
  }
  const [only] = tag === undefined ? [] : parseTags([tag]);
  if (tag === '' || (tag !== undefined && only !== tag)) {
    throw wrong(`${ofRule}: its tag ${quote(tag)} must be one tag without spaces around it.`);
  }
  const actions = ruleActions.map(({ name, max }) => {
    return [name, parseNumber(`${ofRule}: ${name}`, sent[name], max)] as const;
  });
  if (actions.every(([, number]) => number === undefined)) {
    const names = ruleActions.map(({ name }) => name).join(', ');
    throw wrong(`${ofRule} has no action: send at least one of ${names}.`);
  }
  const numbers = Object.fromEntries(actions) as Pick<Rule, RuleAction>;
  return { id, isEnabled, prefix, tag: only, ...numbers };
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && !hasControlCharacter(text);
}

function parseNumber(name: string, sent: bigint | undefined, max: number): number | undefined {
  if (sent === undefined) return undefined;
  if (sent >= 1n && sent <= BigInt(max)) return Number(sent);
  throw wrong(
    `${name} must be a whole number from 1 to ${max}; got ${sent}. Omit it for no action.`,
  );
}

function wrong(message: string): Refusal {
  return new Refusal('InvalidArgument', message);
}
