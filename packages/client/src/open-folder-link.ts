// Opens a folder by its link: an address with an API key in the fragment, which is never sent to
// the page of the address.

import type { FolderLinkOptions } from './opened-folder.ts';
import type { SharedFolder } from './types/folder-links.ts';

/**
 * Opens the folder of an address that `folderLinks.create()` returned. Needs no key and no
 * identity. Sends no request before the first list or download.
 *
 * @example
 * ```ts
 * import { openFolderLink } from '@encrypted-file-storage/client';
 *
 * const { url } = await storage.folderLinks.create({ bucket: 'demo', prefix: 'notes/' });
 * const folder = await openFolderLink(url);
 * for await (const { path } of folder.list()) {
 *   console.log(path, (await (await folder.download(path)).bytes()).length);
 * }
 * ```
 */
export async function openFolderLink(
  url: string,
  options: FolderLinkOptions = {},
): Promise<SharedFolder> {
  const { openedFolder } = await import('./opened-folder.ts');
  return openedFolder(url, options);
}
