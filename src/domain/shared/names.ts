// The rules for names that callers choose: bucket ids, file paths, content types, tags. Each
// function returns the name in the form that is stored, or throws a Refusal.

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

/** A path as actor calls write it: with or without one leading slash, not percent-encoded. */
export function parseFilePath(text: string): string {
  const path = withoutSlash(text);
  const fault = pathFault(path);
  if (fault !== undefined) {
    throw new Refusal('InvalidPath', `The file path ${quote(text)} ${fault}.`);
  }
  return path;
}

/** Without one leading slash, with which paths may be written. */
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
  const fault = prefix === '' ? undefined : pathFault(`${prefix}x`);
  if (fault !== undefined) {
    throw new Refusal(
      'InvalidPath',
      `Invalid key prefix ${quote(text)}: a path that begins with it ${fault}.`,
    );
  }
  return prefix;
}

const tooLong = `has more than ${filePathBytesMax} bytes of UTF-8`;

/** Most are so plain that one pattern tells, in place of nine checks at 50,000 instructions. */
const plainPath = /(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_-][A-Za-z0-9_.-]*$/y;

function pathFault(path: string): string | undefined {
  plainPath.lastIndex = 0;
  if (path.length <= filePathBytesMax && plainPath.test(path)) return undefined;
  if (path === '') return 'is empty: name a file, such as docs/report.pdf';
  if (path.length > filePathBytesMax) return tooLong;
  if (hasControlCharacter(path)) return 'contains a control character';
  if (hasBidiControl(path)) return 'contains a character that changes the direction of text';
  if (!path.isWellFormed()) return 'is not well-formed Unicode';
  if (path.endsWith('/')) return 'ends in a slash: a path names a file, not a folder';
  const segments = path.split('/');
  if (segments.includes('')) return 'has an empty segment: write single slashes';
  if (segments.includes('.') || segments.includes('..')) {
    return 'has a "." or ".." segment: write the path that is meant';
  }
  if (segments.includes('<*>') || segments.includes('<$>')) {
    return 'has a "<*>" or "<$>" segment, which stand for something else where files are certified';
  }
  if (3 * path.length > filePathBytesMax && encodeUtf8(path).length > filePathBytesMax) {
    return tooLong;
  }
  return undefined;
}

// RFC 9110 §8.3.1: type "/" subtype *( OWS ";" OWS [ parameter ] ), tokens of §5.6.2, quoted
// strings of §5.6.4. A run of spaces matches in one way only: two ways each would take exponential
// time.
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const quoted = '"(?:[\\t !#-\\[\\]-~]|\\\\[\\t -~])*"';
const mediaTypePattern = new RegExp(
  `^${token}/${token}(?:[ \\t]*;(?:[ \\t]*${token}=(?:${token}|${quoted}))?)*(?:[ \\t]*;[ \\t]*)?$`,
);

/** A media type, kept to the letter. */
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

/** With those that are dropped: more are not looked at. */
const listedTagCountMax = 5 * fileTagCountMax;

/** Tags as `X-File-Tags` lists them: trimmed, empties and repetitions dropped, order kept. */
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
 * For messages: what the caller sent, cut, without control characters, and without anything that
 * could be the better part of an API key, whatever a malformed encoding has done to its beginning.
 */
export function quote(text: string): string {
  const isCut = text.length > quotedFromMax;
  const beginning = isCut ? text.slice(0, quotedFromMax) : text;
  if (text.length < keyRunMin) return JSON.stringify(text.toWellFormed());
  const harmless = beginning
    .replace(/[A-Za-z0-9_-]{24,}/g, (run) => `${run.slice(0, 4)}…`)
    // A run that the cut has left too short to be seen as one
    .slice(0, isCut ? -23 : undefined);
  const shown = harmless.length > 80 ? `${harmless.slice(0, 80)}…` : harmless;
  return JSON.stringify(shown.toWellFormed());
}

/** As many characters of a key's as the pattern of quote() takes for a run of them. */
const keyRunMin = 24;
/** Enough for what is shown. */
const quotedFromMax = 512;
