// Entity tags (RFC 9110 §8.8.3) and the preconditions under which a file is written or deleted, as
// pure functions. Conditions of reading are in http/preconditions.ts.

import { Refusal } from './refusal.ts';

/** What a write is conditional on; the texts of the fields If-Match and If-None-Match. */
export interface WritePreconditions {
  /** `*`, or entity tags of which the present file must have one, compared strongly. */
  readonly ifMatch?: string | undefined;
  /** `*`, or entity tags of which the present file must have none, compared weakly. */
  readonly ifNoneMatch?: string | undefined;
  /** Nanoseconds since 1970; counts only without `ifMatch` (RFC 9110 §13.1.4). */
  readonly unmodifiedSinceNs?: bigint | undefined;
}

/**
 * Refuses with PreconditionFailed unless a write is allowed over what is there; changes nothing.
 * `existingEtag`: the present file's entityTag(), with its quotes; `undefined`: there is no file.
 * What is no list of entity tags is refused as InvalidArgument, since ignoring it would overwrite
 * what the caller wanted to protect. One bare tag, as the JSON record shows it, counts as quoted.
 * For completion call it with the file that is there at completion, before the first write:
 * `checkWritePreconditions(old && entityTag(old), { ifMatch, ifNoneMatch })`.
 */
export function checkWritePreconditions(
  existingEtag: string | undefined,
  conditions: WritePreconditions,
): void {
  const ifMatch = tagList('If-Match', conditions.ifMatch);
  const ifNoneMatch = tagList('If-None-Match', conditions.ifNoneMatch);
  if (ifMatch !== undefined) {
    if (existingEtag === undefined || !matchesTag(ifMatch, existingEtag, 'strong')) {
      const found = existingEtag === undefined ? 'there is no file' : `it has ${existingEtag}`;
      throw new Refusal('PreconditionFailed', `If-Match names another version: ${found}.`);
    }
  }
  if (ifNoneMatch !== undefined && existingEtag !== undefined) {
    if (matchesTag(ifNoneMatch, existingEtag, 'weak')) {
      throw new Refusal(
        'PreconditionFailed',
        `If-None-Match excludes what is there: the file has ${existingEtag}.`,
      );
    }
  }
}

/** Refuses when a file has changed since `unmodifiedSinceNs`, unless If-Match decides. */
export function checkUnmodifiedSince(
  updatedAtNs: bigint | undefined,
  conditions: WritePreconditions,
): void {
  const { ifMatch, unmodifiedSinceNs } = conditions;
  if (ifMatch !== undefined || unmodifiedSinceNs === undefined || updatedAtNs === undefined) {
    return;
  }
  // HTTP dates have whole seconds.
  if (updatedAtNs / 1_000_000_000n > unmodifiedSinceNs / 1_000_000_000n) {
    throw new Refusal('PreconditionFailed', 'The file has changed since If-Unmodified-Since.');
  }
}

const opaqueTag = '(?:W/)?"[!#-~\\x80-\\xff]*"';
const tagListPattern = new RegExp(`^[ \\t,]*${opaqueTag}(?:[ \\t]*,[ \\t]*(?:${opaqueTag})?)*$`);
const bareTagPattern = /^[!#-+\--~]+$/;

function tagList(field: string, text: string | undefined): string | undefined {
  const list = text?.trim();
  if (list === undefined || list === '*' || tagListPattern.test(list)) {
    return list;
  }
  if (bareTagPattern.test(list)) {
    return `"${list}"`;
  }
  throw new Refusal(
    'InvalidArgument',
    `${field} must be * or a list of entity tags in double quotes, such as "5d41…".`,
  );
}

/** `*` or a list of entity tags; W/ tags never match strongly (RFC 9110 §8.8.3.2). */
export function matchesTag(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') {
    return true;
  }
  const tags = list.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.some((tag) => tag === etag || (comparison === 'weak' && tag === `W/${etag}`));
}
