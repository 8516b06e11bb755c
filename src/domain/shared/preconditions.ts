// Entity tags (RFC 9110 §8.8.3) and the preconditions for writing or deleting a file, as pure
// functions. http/preconditions.ts has the conditions for reading.

import { storedHeaderLengthMax } from '../../limits.ts';
import { Refusal } from './refusal.ts';

/** The preconditions of a write: If-Match, If-None-Match and If-Unmodified-Since. */
export interface WritePreconditions {
  /** `*`, or entity tags one of which the present file must have, by strong comparison. */
  readonly ifMatch?: string | undefined;
  /** `*`, or entity tags none of which the present file may have, by weak comparison. */
  readonly ifNoneMatch?: string | undefined;
  /** Nanoseconds since 1970; ignored if `ifMatch` is present (RFC 9110 §13.1.4). */
  readonly unmodifiedSinceNs?: bigint | undefined;
}

/**
 * Refuses with PreconditionFailed unless the present file satisfies If-Match and If-None-Match;
 * checkUnmodifiedSince() checks the third condition. Changes nothing. The message never contains
 * the file's tag, which begins with the SHA-256 of bytes that the caller may have no right to read.
 * `existingEtag`: the entityTag() of the file that exists now, with its quotes; `undefined` without
 * a file. Refuses a malformed list of tags with InvalidArgument, because ignoring it would
 * overwrite a file that the caller wanted to protect. Accepts one tag without quotes, as the JSON
 * record shows it.
 */
export function checkWritePreconditions(
  existingEtag: string | undefined,
  conditions: WritePreconditions,
): void {
  const ifMatch = tagList('If-Match', conditions.ifMatch);
  const ifNoneMatch = tagList('If-None-Match', conditions.ifNoneMatch);
  if (ifMatch !== undefined) {
    if (existingEtag === undefined) {
      throw new Refusal(
        'PreconditionFailed',
        'If-Match requires a file, but the file does not exist.',
      );
    }
    if (!matches(ifMatch, existingEtag, 'strong')) {
      throw new Refusal('PreconditionFailed', "The file's ETag does not match If-Match.");
    }
  }
  if (ifNoneMatch !== undefined && existingEtag !== undefined) {
    if (matches(ifNoneMatch, existingEtag, 'weak')) {
      throw new Refusal('PreconditionFailed', "The file's ETag matches If-None-Match.");
    }
  }
}

/** Refuses if the file has changed since `unmodifiedSinceNs`, unless If-Match is present. */
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

/** Maximum number of tags in a list; most lists have one. */
const listedTagsMax = 32;
const anyVersion = '*';

/** Returns the list's tags; `undefined` without a list. */
function tagList(field: string, text: string | undefined): readonly string[] | undefined {
  const list = text?.trim();
  if (list === undefined || list === anyVersion) {
    return list === undefined ? undefined : [list];
  }
  const tags = list.length > storedHeaderLengthMax ? undefined : readTags(list);
  if (tags !== undefined) {
    return tags;
  }
  if (list.length <= storedHeaderLengthMax && /^[!#-+\--~]+$/.test(list)) {
    return [`"${list}"`];
  }
  throw new Refusal(
    'InvalidArgument',
    `${field} must be * or a list of at most ${listedTagsMax} entity tags in double quotes, such as ` +
      `"5d41…", within ${storedHeaderLengthMax} characters.`,
  );
}

/**
 * Returns the tags of a list, or `undefined` for a malformed one. Skips empty elements (RFC 9110
 * §5.6.1.2). Parses tag by tag: a single pattern could match a list in exponentially many ways.
 */
function readTags(list: string): readonly string[] | undefined {
  const separator = /[ \t,]*/y;
  const tag = /(?:W\/)?"[!#-~\x80-\xff]*"/y;
  const tags: string[] = [];
  let end = 0;
  while (tags.length <= listedTagsMax) {
    separator.lastIndex = end;
    separator.test(list);
    const start = separator.lastIndex;
    if (start === list.length) {
      return tags.length === 0 ? undefined : tags;
    }
    tag.lastIndex = start;
    const isSeparate = tags.length === 0 || list.slice(end, start).includes(',');
    if (!isSeparate || !tag.test(list)) {
      return undefined;
    }
    end = tag.lastIndex;
    tags.push(list.slice(start, end));
  }
  return undefined;
}

/**
 * Returns whether a list of entity tags, or `*`, matches `etag`; a list of more than
 * storedHeaderLengthMax characters matches nothing.
 */
export function matchesTag(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  const text = list.trim();
  if (text.length > storedHeaderLengthMax) {
    return false;
  }
  return matches(
    text === anyVersion ? [text] : (text.match(/(?:W\/)?"[^"]*"/g) ?? []),
    etag,
    comparison,
  );
}

/**
 * Returns whether `tags`, which may be `*`, match `etag`; W/ tags never match strongly (RFC 9110
 * §8.8.3.2).
 */
function matches(tags: readonly string[], etag: string, comparison: 'strong' | 'weak'): boolean {
  const isListed = tags.includes(etag) || tags[0] === anyVersion;
  return isListed || (comparison === 'weak' && tags.includes(`W/${etag}`));
}
