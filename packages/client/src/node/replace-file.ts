// Replaces small files of stores, such as keys, so that a crash leaves the former or the new one.

import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file that only its owner can read, also with concurrent writers. Creates its folder if
 * missing. The draft's name has the id of this process after the file's name. Without a flush, a
 * power cut after the rename can leave an empty file.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { flush = true } = {},
): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.${randomUUID()}`;
  try {
    await writeFile(draft, content, { mode: 0o600, flag: 'wx', flush });
    await rename(draft, file);
    if (flush) await syncFolder(dirname(file));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Writes the names in the folder to the disk; does nothing on systems without such a call. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
