// Files that outlive the machine's sudden end: their bytes are on the disk, and so is their name.

import { type FileHandle, open } from 'node:fs/promises';

export const ownerOnlyFile = 0o600;
export const ownerOnlyFolder = 0o700;

/** Adds the text where the handle writes, on the disk when it resolves, and closes the handle. */
export async function writeAndClose(handle: FileHandle, text: string): Promise<void> {
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The names in it; where the system has no such call there is nothing to do. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
