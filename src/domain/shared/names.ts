// The rules for names that callers choose: bucket ids, file paths, content types, tags. Each
// function returns the name in its stored form or throws a Refusal.

import { bucketIdRefusal, isBucketId } from '../../../packages/wire/src/bucket-id.ts';
import { encodeUtf8, hasBidiControl, hasControlCharacter } from '../../lib/text.ts';
import {
  contentTypeLengthMax,
  filePathBytesMax,
  fileTagCountMax,
  fileTagLengthMax,
} from '../../limits.ts';
import { Refusal } from './refusal.ts';

export function parseBucketId(text: string): string {
  if (isBucketId(text)) return text;
  throw new Refusal('InvalidBucketId', bucketIdRefusal(quote(text)));
}

/** Parses a path of an actor call: with or without one leading slash, not percent-encoded. */
export function parseFilePath(text: string): string {
  const path = withoutSlash(text);
  const fault = pathFault(path);
  if (fault !== undefined) {
    throw new Refusal('InvalidPath', `The file path ${quote(text)} ${fault}.`);
  }
  return path;
}

/**
 * Parses the path of a file that a request creates. Version 0.1.0 accepted characters that change
 * the direction of text, so only new paths must not have them.
 */
export function parseNewPath(text: string): string {
  const path = parseFilePath(text);
  if (hasBidiControl(path)) {
    throw new Refusal('InvalidPath', `The file path ${quote(text)} ${bidiFault}.`);
  }
  return path;
}

/** Removes one optional leading slash. */
export function withoutSlash(text: string): string {
  return text.startsWith('/') ? text.slice(1) : text;
}

/** Parses a path prefix: matched exactly, and no longer than a path. */
export function parsePrefix(text: string): string {
  if (text.length > filePathBytesMax || encodeUtf8(text).length > filePathBytesMax) {
    throw new Refusal('InvalidPath', `The prefix ${quote(text)} ${tooLong}.`);
  }
  return text;
}

/**
 * Parses the path prefix that a key is restricted to, with or without one leading slash; '' means
 * all paths. Refuses a prefix that no path can have.
 */
export function parseKeyPrefix(text: string): string {
  const prefix = withoutSlash(text);
  const bidi = hasBidiControl(prefix) ? bidiFault : undefined;
  const fault = bidi ?? (prefix === '' ? undefined : pathFault(`${prefix}x`));
  if (fault !== undefined) {
    throw new Refusal(
      'InvalidPath',
      `Invalid key prefix ${quote(text)}: a path that begins with it ${fault}.`,
    );
  }
  return prefix;
}

const bidiFault = 'contains a character that changes the direction of text';
const tooLong = `has more than ${filePathBytesMax} bytes of UTF-8`;

/** Accepts most paths with one pattern instead of nine checks of 50,000 instructions in total. */
const plainPath = /(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_-][A-Za-z0-9_.-]*$/y;

function pathFault(path: string): string | undefined {
  plainPath.lastIndex = 0;
  if (path.length <= filePathBytesMax && plainPath.test(path)) return undefined;
  if (path === '') return 'is empty: name a file, such as docs/report.pdf';
  if (path.length > filePathBytesMax) return tooLong;
  if (hasControlCharacter(path)) return 'contains a control character';
  if (!path.isWellFormed()) return 'is not well-formed Unicode';
  if (path.endsWith('/')) return 'ends in a slash: a path names a file, not a folder';
  const segments = path.split('/');
  if (segments.includes('')) return 'has an empty segment: write single slashes';
  if (segments.includes('.') || segments.includes('..')) {
    return 'has a "." or ".." segment: write the path without it';
  }
  if (segments.includes('<*>') || segments.includes('<$>')) {
    return 'has a "<*>" or "<$>" segment, which certificates reserve';
  }
  if (3 * path.length > filePathBytesMax && encodeUtf8(path).length > filePathBytesMax) {
    return tooLong;
  }
  return undefined;
}

// RFC 9110 §8.3.1: type "/" subtype *( OWS ";" OWS [ parameter ] ), tokens of §5.6.2, quoted
// strings of §5.6.4. A run of spaces can match in one way only, because two ways would take
// exponential time.
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quoted = '"(?:[\\t !#-\\[\\]-~]|\\\\[\\t -~])*"';
const mediaTypePattern = new RegExp(
  `^${token}/${token}(?:[ \\t]*;(?:[ \\t]*${token}=(?:${token}|${quoted}))?)*(?:[ \\t]*;[ \\t]*)?$`,
);

/** Parses a media type and returns it unchanged. */
export function parseContentType(text: string): string {
  if (text.trim() === '') {
    throw new Refusal(
      'MissingContentType',
      'The Content-Type is missing: send the media type of the file, such as image/png.',
    );
  }
  if (text.length > contentTypeLengthMax || !mediaTypePattern.test(text)) {
    throw new Refusal(
      'InvalidContentType',
      `The Content-Type ${quote(text)} is not a media type of at most ${contentTypeLengthMax} ` +
        'characters, such as text/plain; charset=utf-8.',
    );
  }
  return text;
}

/** Maximum number of tags that are read, including dropped ones. */
const listedTagCountMax = 5 * fileTagCountMax;

/** Parses tags as in `X-File-Tags`: trimmed, in order, without empty and repeated ones. */
export function parseTags(tags: readonly string[]): string[] {
  if (tags.length > listedTagCountMax) {
    throw new Refusal(
      'InvalidArgument',
      `A file has at most ${fileTagCountMax} tags; got a list of ${tags.length}.`,
    );
  }
  const kept = [...new Set(tags.map((tag) => tag.trim()).filter((tag) => tag !== ''))];
  if (kept.length > fileTagCountMax) {
    throw new Refusal(
      'InvalidArgument',
      `A file has at most ${fileTagCountMax} tags; got ${kept.length}.`,
    );
  }
  for (const tag of kept) {
    if (
      tag.length > fileTagLengthMax ||
      hasControlCharacter(tag) ||
      tag.includes(',') ||
      !tag.isWellFormed()
    ) {
      throw new Refusal(
        'InvalidArgument',
        `A tag must have 1 to ${fileTagLengthMax} characters and no comma or control character; got ${quote(tag)}.`,
      );
    }
  }
  return kept;
}

/**
 * Quotes the caller's text for a message: truncated, without control characters, and without any
 * run that could be most of an API key, even if a malformed encoding hides the key's beginning.
 */
export function quote(text: string): string {
  const isCut = text.length > quotedFromMax;
  const beginning = isCut ? text.slice(0, quotedFromMax) : text;
  if (text.length < keyRunMin) return JSON.stringify(text.toWellFormed());
  const harmless = beginning
    .replace(/[A-Za-z0-9_-]{24,}/g, (run) => `${run.slice(0, 4)}…`)
    // Removes a run that the truncation made too short for the pattern
    .slice(0, isCut ? -23 : undefined);
  const shown = harmless.length > 80 ? `${harmless.slice(0, 80)}…` : harmless;
  return JSON.stringify(shown.toWellFormed());
}

/** Minimum length of a run of key characters that the pattern of quote() removes. */
const keyRunMin = 24;
/** Length of the beginning that quote() reads, enough for the shown part. */
const quotedFromMax = 512;
