// End-to-end buckets in Node, with Node's faster cipher.

import { type EndToEndLayer, endToEnd } from '../end-to-end.ts';
import { type LinkOptions, openLink } from '../open-link.ts';
import type { EndToEndOptions } from '../types/end-to-end.ts';
import type { Download } from '../types/transfers.ts';
import { nodeSegmentCipher } from './segment-cipher.ts';

/** Returns the layer of `endToEnd` with Node's cipher. */
export function nodeEndToEnd(options: EndToEndOptions = {}): EndToEndLayer {
  return endToEnd({ cipher: nodeSegmentCipher, ...options });
}

/** Downloads by a share link, as `openLink` does, with Node's cipher. */
export function openNodeLink(url: string, options: LinkOptions = {}): Promise<Download> {
  return openLink(url, { cipher: nodeSegmentCipher, ...options });
}
