// End-to-end buckets in Node: the same, with the quicker cipher.

import { type EndToEndLayer, endToEnd } from '../end-to-end.ts';
import { type LinkOptions, openLink } from '../open-link.ts';
import type { EndToEndOptions } from '../types/end-to-end.ts';
import type { Download } from '../types/transfers.ts';
import { nodePieceCipher } from './piece-cipher.ts';

export function nodeEndToEnd(options: EndToEndOptions = {}): EndToEndLayer {
  return endToEnd({ cipher: nodePieceCipher, ...options });
}

export function openNodeLink(url: string, options: LinkOptions = {}): Promise<Download> {
  return openLink(url, { cipher: nodePieceCipher, ...options });
}
