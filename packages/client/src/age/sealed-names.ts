// Seals names: each segment of a path by AES-SIV (RFC 5297), in base64url. There is no associated
// data, so a segment is sealed to the same text in every folder, and callers without the key can
// still use folders and prefixes.

import { aessiv } from '@noble/ciphers/aes.js';
import { decodeBase64Url, encodeBase64Url } from '../bytes/base64-url.ts';
import type { PathNames } from '../sealed-names/bucket-names.ts';
import { segmentFault } from '../sealed-names/segment-fault.ts';
import { StorageError } from '../storage-error.ts';

/** The service's limit for stored paths. */
const pathBytesMax = 1_024;
const tagBytes = 16;
const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns a sealer of names. The key has 64 bytes: an AES-256 key each for tags and texts. */
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
      // No segment follows the final slash of a folder.
      const end = segments.at(-1) === '' ? segments.length - 1 : segments.length;
      const sealed = segments
        .map((segment, index) => (index === end ? '' : sealSegment(segment)))
        .join('/');
      if (sealed.length <= pathBytesMax) return sealed;
      throw invalidPath(
        path,
        `is too long: sealed, it has ${sealed.length} of at most ${pathBytesMax} bytes`,
      );
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
        // The service quotes only the beginning of long words, which might be keys.
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

/** Returns undefined for text not sealed with the key, and for a sealed text that is not a name. */
function openedSegment(key: Uint8Array, segment: string): string | undefined {
  const bytes = decodeBase64Url(segment);
  if (bytes === undefined || bytes.length <= tagBytes) return undefined;
  try {
    const opened = strictUtf8.decode(aessiv(key).decrypt(bytes));
    const isName = segmentFault(opened) === undefined && !opened.includes('/');
    // Only one of several encodings of the same bytes is valid.
    return isName && encodeBase64Url(bytes) === segment ? opened : undefined;
  } catch {
    return undefined;
  }
}
