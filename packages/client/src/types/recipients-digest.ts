// The digest of a bucket's recipients, which writers remember and compare.

import { encodeBase64Url } from '../bytes/base64-url.ts';
import { sha256 } from '../bytes/sha256.ts';
import type { EndToEndRecord } from './end-to-end.ts';

export const notEndToEnd = 'none';

/** Returns the recipients of new files: the newest epoch's, and those that the owners chose. */
function recipientsOf(mode: EndToEndRecord): string[] {
  const newest = mode.usesVetKeys ? mode.epochs.at(-1)?.recipient : undefined;
  return newest ? [newest, ...mode.recipients] : [...mode.recipients];
}

/**
 * Returns `none` if not end-to-end, else 43 characters of base64url: the SHA-256 of a line for the
 * version, a line for how names are stored, and the sorted recipients, joined by line feeds.
 */
export async function recipientsDigest(mode: EndToEndRecord | undefined): Promise<string> {
  if (mode === undefined) return notEndToEnd;
  const names = mode.sealsNames ? 'sealed names' : 'plain names';
  const lines = ['encrypted-file-storage/recipients/v1', names, ...recipientsOf(mode).sort()];
  return encodeBase64Url(await sha256(new TextEncoder().encode(lines.join('\n'))));
}
