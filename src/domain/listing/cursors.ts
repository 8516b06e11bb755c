// Cursors of lists: opaque texts that contain the name of the last shown entry. Whatever is stored
// or deleted between two pages, entries that stay are neither skipped nor repeated.
//
//   base64url of: version 1 u8 | UTF-8 of a file's path, or of a folder's with its last slash

import { folderPageDefault, folderPageMax } from '../../../packages/wire/src/limits.ts';
import { decodeBase64Url, encodeBase64Url } from '../../lib/base64.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { decodeUtf8, encodeUtf8 } from '../../lib/text.ts';
import { filePathBytesMax } from '../../limits.ts';
import { Refusal } from '../shared/refusal.ts';

const version = Uint8Array.of(1);
/** Base64 digits of the longest cursor: a path, a NUL, and the 16 letters of a link. */
const cursorLengthMax = Math.ceil(((1 + filePathBytesMax + 17) * 4) / 3);

/** `name`: UTF-8. */
export function cursorOf(name: Uint8Array): string {
  return encodeBase64Url(concatBytes(version, name));
}

/** Splits entries, one more than a page shows, into the page and the cursor of the next one. */
export function firstPage<T>(
  found: readonly T[],
  limit: number,
  nameOf: (last: T) => string,
): { readonly shown: readonly T[]; readonly nextCursor: string | null } {
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return { shown, nextCursor: last === undefined ? null : cursorOf(encodeUtf8(nameOf(last))) };
}

/** Returns UTF-8 of the name in the cursor; refuses an invalid cursor with InvalidArgument. */
export function parseCursor(text: string): Uint8Array {
  const bytes = text.length <= cursorLengthMax ? decodeBase64Url(text) : undefined;
  const isKnown = bytes !== undefined && bytes.length > 1 && bytes[0] === version[0];
  const name = isKnown ? bytes.subarray(1) : undefined;
  if (name === undefined || decodeUtf8(name) === undefined) {
    throw new Refusal(
      'InvalidArgument',
      'The cursor is invalid: send the nextCursor of the previous page, or no cursor.',
    );
  }
  return name;
}

/** Parses the number of entries per page; refuses numbers that are not integers. */
export function parseLimit(limit: number = folderPageDefault): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > folderPageMax) {
    throw new Refusal(
      'InvalidArgument',
      `limit must be a whole number from 1 to ${folderPageMax}.`,
    );
  }
  return limit;
}
