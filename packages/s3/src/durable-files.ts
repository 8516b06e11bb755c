// Files whose bytes survive a crash of the machine.

import type { FileHandle } from 'node:fs/promises';

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
