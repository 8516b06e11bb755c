// Base64url without padding (RFC 4648 §5), for short values.

import { encodeBase64 } from './bytes.ts';

export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Returns undefined if `text` is not valid. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(bytes, (char) => char.charCodeAt(0));
}
