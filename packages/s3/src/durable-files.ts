// Files that survive a crash of the machine: their bytes and their names are on the disk.

import { type FileHandle, open } from 'node:fs/promises';

export const ownerOnlyFile = 0o600;
export const ownerOnlyFolder = 0o700;

/** Appends the text and closes the handle; resolves when the text is on the disk. */
export async function writeAndClose(handle: FileHandle, text: string): Promise<void> {
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes the names in the folder to the disk; does nothing on systems without such a call. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
