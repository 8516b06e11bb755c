// The names that may be sealed.

/** A sealed segment of this length has 222 characters, so four of them fit into a path. */
const segmentBytesMax = 150;
/** Control characters, and those that make a name look like another (UAX 9). */
export const forbiddenCharacters = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** Returns the reason why a path must not have the segment. */
export function segmentFault(segment: string): string | undefined {
  if (segment === '') return 'is empty; write single slashes';
  if (segment === '.' || segment === '..')
    return 'is not allowed; write the path without dot segments';
  if (forbiddenCharacters.test(segment))
    return 'has characters that are not allowed, such as controls';
  const bytes = new TextEncoder().encode(segment).length;
  if (bytes <= segmentBytesMax) return undefined;
  return `has ${bytes} bytes of UTF-8; sealed names have at most ${segmentBytesMax}`;
}
