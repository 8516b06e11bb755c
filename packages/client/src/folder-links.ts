// Links to folders; the code is loaded with the first call.

import type { Connection } from './connection/connection.ts';
import { onDemand } from './connection/on-demand.ts';
import type { SealingParts } from './end-to-end.ts';
import type { FolderLinks } from './types/folder-links.ts';

/** `parts`: absent if files are sent as they are stored. */
export function folderLinksOf(
  connection: Connection,
  parts: SealingParts | undefined,
): FolderLinks {
  const open = onDemand(async () => {
    const { openFolderLinks } = await import('./folder-link-operations.ts');
    return openFolderLinks(connection, parts);
  });
  return {
    create: async (request) => (await open()).create(request),
    refresh: async (...asked) => (await open()).refresh(...asked),
    remove: async (...asked) => (await open()).remove(...asked),
  };
}
