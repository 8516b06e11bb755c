// End-to-end buckets in Node, with Node's faster cipher.

import { lookup } from 'mime-types';
import { type EndToEndLayer, endToEnd } from '../end-to-end.ts';
import { openFolderLink } from '../open-folder-link.ts';
import { type LinkOptions, openLink } from '../open-link.ts';
import { type FolderLinkOptions, type FolderStorage, folderStorage } from '../opened-folder.ts';
import type { EndToEndOptions } from '../types/end-to-end.ts';
import type { SharedFolder } from '../types/folder-links.ts';
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

const forFolders = { cipher: nodeSegmentCipher, contentTypeOf: lookup };

/** Opens a folder by its link, as `openFolderLink` does, with Node's cipher and media types. */
export function openNodeFolderLink(
  url: string,
  options: FolderLinkOptions = {},
): Promise<SharedFolder> {
  return openFolderLink(url, { ...forFolders, ...options });
}

/** Returns the storage of a folder's link, with Node's cipher and media types. */
export function nodeFolderStorage(url: string): FolderStorage {
  return folderStorage(url, forFolders);
}
