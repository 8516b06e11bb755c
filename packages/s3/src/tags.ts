// Converts tags of S3, pairs of key and value, to tags of files, words of up to 64 characters: the
// pair `env=prod` becomes the word `env=prod`, by which `efs ls --tag` finds it; a word without an
// equals sign is a key without a value. Characters that a word cannot have are percent-encoded.

import { S3Error } from './s3-error.ts';
import { parseQuery } from './signature/signed-request.ts';

export interface Tag {
  readonly key: string;
  readonly value: string;
}

const tagCountMax = 10;
const wordLengthMax = 64;

/** Throws InvalidTag. */
export function wordsOf(tags: readonly Tag[]): string[] {
  if (tags.length > tagCountMax) {
    throw new S3Error('InvalidTag', `An object has at most ${tagCountMax} tags.`);
  }
  if (new Set(tags.map(({ key }) => key)).size < tags.length) {
    throw new S3Error('InvalidTag', 'Each tag key may occur only once.');
  }
  return tags.map(wordOf);
}

function wordOf({ key, value }: Tag): string {
  const name = encode(key).replaceAll('=', '%3D');
  const word = value === '' ? name : `${name}=${encode(value)}`;
  if (key === '' || word.trim() !== word || /\p{Cc}/u.test(word) || !word.isWellFormed()) {
    throw new S3Error(
      'InvalidTag',
      'A tag must have a key, and no control characters or leading or trailing spaces.',
    );
  }
  if (word.length <= wordLengthMax) return word;
  throw new S3Error(
    'InvalidTag',
    `Key and value of a tag must have at most ${wordLengthMax - 1} characters in total.`,
  );
}

/** Words are trimmed and have no commas. */
function encode(text: string): string {
  return text.replace(/[%,]|^ | $/g, encodeURIComponent);
}

export function tagOf(word: string): Tag {
  const at = word.indexOf('=');
  const [key, value] = at === -1 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
  return { key: decode(key), value: decode(value) };
}

/** Decodes the characters that this server encodes; other text stays as it is. */
function decode(text: string): string {
  return text.replace(/%(?:25|2C|3D|20)/g, decodeURIComponent);
}

/** Parses the form of the header field x-amz-tagging, which is that of a query. */
export function tagsOfQuery(text: string | undefined): Tag[] {
  return parseQuery(text ?? '').map(([key, value]) => ({ key, value }));
}
