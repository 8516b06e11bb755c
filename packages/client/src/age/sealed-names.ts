// Names of buckets that seal them: each segment of a path by AES-SIV (RFC 5297), in base64url. One
// segment always becomes the same one, wherever it stands: with no associated data, so that
// folders, prefixes and their moves are what they are to who does not know the names.

import { aessiv } from '@noble/ciphers/aes.js';
import { decodeBase64Url, encodeBase64Url } from '../bytes/base64-url.ts';
import type { PathNames } from '../sealed-names/bucket-names.ts';
import { StorageError } from '../storage-error.ts';

/** Sealed it has 222 characters: four of them and their slashes fit into a path. */
const segmentBytesMax = 150;
/** The service's, of what it stores. */
const pathBytesMax = 1_024;
const tagBytes = 16;
const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** What no path has: controls, and what makes a name look like another (UAX 9). */
const isForbidden = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** `key` has 64 bytes: AES-256 for the tag, and for the text. */
export function sealedNames(key: Uint8Array): PathNames {
  const sealSegment = (segment: string) => {
    const fault = segmentFault(segment);
    if (fault !== undefined) throw invalidPath(segment, fault);
    return encodeBase64Url(aessiv(key).encrypt(utf8.encode(segment)));
  };
  const openSegment = (segment: string) => openedSegment(key, segment);
  return {
    isSealing: true,
    seal(path) {
      const segments = path.replace(/^\//, '').split('/');
      // Behind the last slash of a folder there is no segment.
      const end = segments.at(-1) === '' ? segments.length - 1 : segments.length;
      const sealed = segments
        .map((segment, index) => (index === end ? '' : sealSegment(segment)))
        .join('/');
      if (sealed.length <= pathBytesMax) return sealed;
      throw invalidPath(path, `has ${sealed.length} bytes sealed, and ${pathBytesMax} are allowed`);
    },
    open(path) {
      const stored = path.split('/');
      const segments = stored.map((segment) => (segment === '' ? '' : openSegment(segment)));
      const opened = segments.map((segment, index) => segment ?? stored[index]).join('/');
      return segments.includes(undefined)
        ? { path: opened, isPathAsStored: true }
        : { path: opened };
    },
    openText(text, paths) {
      const segments = new Set(paths.flatMap((path) => path.split('/')));
      return [...segments].reduce((opened, segment) => {
        if (segmentFault(segment) !== undefined) return opened;
        const sealed = sealSegment(segment);
        // The service quotes of long words the beginning: they might be keys.
        return opened
          .replaceAll(sealed, () => segment)
          .replaceAll(`${sealed.slice(0, 4)}…`, () => segment);
      }, text);
    },
  };
}

function invalidPath(name: string, fault: string): StorageError {
  return new StorageError('InvalidPath', `The name ${JSON.stringify(name)} ${fault}.`);
}

function segmentFault(segment: string): string | undefined {
  if (segment === '') return 'is empty: write single slashes';
  if (segment === '.' || segment === '..') return 'is none: write the path that is meant';
  if (isForbidden.test(segment)) return 'has characters that no path has, such as controls';
  const bytes = utf8.encode(segment).length;
  if (bytes <= segmentBytesMax) return undefined;
  return `has ${bytes} bytes of UTF-8: where names are sealed ${segmentBytesMax} are allowed`;
}

/** Undefined of what was not sealed with the key, or is no name: a member may have sealed any. */
function openedSegment(key: Uint8Array, segment: string): string | undefined {
  const bytes = decodeBase64Url(segment);
  if (bytes === undefined || bytes.length <= tagBytes) return undefined;
  try {
    const opened = strictUtf8.decode(aessiv(key).decrypt(bytes));
    const isName = segmentFault(opened) === undefined && !opened.includes('/');
    // Of several writings of the same bytes, one is the name.
    return isName && encodeBase64Url(bytes) === segment ? opened : undefined;
  } catch {
    return undefined;
  }
}
