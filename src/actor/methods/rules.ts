// Actor methods for the rules of a bucket.

import { IDL } from '@dfinity/candid';
import { getRules, setRules } from '../../domain/administration/bucket-rules.ts';
import type { Rule } from '../../domain/buckets/rules.ts';
import { ResultRules, Rule as RuleType } from '../candid/rules.ts';
import { query, update } from '../dispatch/method.ts';
import { type Optional, optional, prefixOf } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { startRules, stores } from '../runtime/runtime.ts';

interface RuleArgument {
  id: string;
  isEnabled: boolean;
  prefix: Optional<string>;
  tag: Optional<string>;
  deleteAfterDays: Optional<bigint>;
  keepVersions: Optional<bigint>;
  eraseVersionsAfterDays: Optional<bigint>;
  endUploadsAfterHours: Optional<bigint>;
}

function ruleOf(argument: RuleArgument) {
  return {
    id: argument.id,
    isEnabled: argument.isEnabled,
    prefix: prefixOf(argument.prefix),
    tag: argument.tag[0],
    deleteAfterDays: argument.deleteAfterDays[0],
    keepVersions: argument.keepVersions[0],
    eraseVersionsAfterDays: argument.eraseVersionsAfterDays[0],
    endUploadsAfterHours: argument.endUploadsAfterHours[0],
  };
}

function ruleView(rule: Rule) {
  return {
    id: rule.id,
    isEnabled: rule.isEnabled,
    prefix: optional(rule.prefix || undefined),
    tag: optional(rule.tag),
    deleteAfterDays: optional(rule.deleteAfterDays),
    keepVersions: optional(rule.keepVersions),
    eraseVersionsAfterDays: optional(rule.eraseVersionsAfterDays),
    endUploadsAfterHours: optional(rule.endUploadsAfterHours),
  };
}

/** Rules of buckets, which delete old files, former versions and unfinished uploads. */
export class RulesActor {
  /**
   * (bucketId, rules) Replaces all rules of a bucket, at most 20, for owners; an empty list removes
   * them. Rules also apply to what the bucket has already. ok lists the rules. Errors:
   * AccessDenied, InvalidArgument, NoSuchBucket.
   */
  @update([IDL.Text, IDL.Vec(RuleType)], ResultRules)
  setRules(bucket: string, rules: RuleArgument[]) {
    return answer(() => {
      const set = setRules(stores, currentCall(), { bucket, rules: rules.map(ruleOf) });
      startRules();
      return set.map(ruleView);
    });
  }

  /**
   * (bucketId, apiKey) Returns the rules of a bucket, for members and keys that may read the whole
   * bucket. Owners can also send it as an update, without a key: then the network signs the reply.
   * Errors: AccessDenied, NoSuchBucket.
   */
  @query([IDL.Text, IDL.Opt(IDL.Text)], ResultRules)
  getRules(bucket: string, [apiKey]: Optional<string>) {
    return answer(() => getRules(stores, currentCall(), { bucket, apiKey }).map(ruleView));
  }
}
