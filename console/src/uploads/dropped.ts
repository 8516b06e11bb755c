// Lists the dropped, pasted or chosen files, with their paths inside folders.

import { texts } from '../language.ts';

export interface ChosenFile {
  readonly file: File;
  /** Relative to the folder that it is dropped on. */
  readonly path: string;
}

export function chosenOf(list: FileList | null): ChosenFile[] {
  return [...(list ?? [])].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}

/** Browsers give each pasted picture this name. */
const pictureName = 'image.png';

/** Pasted pictures are named by the time, so that the next one does not replace them. */
export function pastedOf(clipboard: DataTransfer | null, now = new Date()): ChosenFile[] {
  const time = now.toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '.');
  return chosenOf(clipboard?.files ?? null).map(({ file, path }) => {
    return { file, path: path === pictureName ? `${texts().files.pasted(time)}.png` : path };
  });
}

/** Reads the entries before the first await, because the browser clears them then. */
export async function droppedOf(transfer: DataTransfer): Promise<ChosenFile[]> {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null);
  if (entries.length === 0) return chosenOf(transfer.files);
  const found: ChosenFile[] = [];
  for (const entry of entries) await collect(entry, '', found);
  return found;
}

async function collect(entry: FileSystemEntry, folder: string, found: ChosenFile[]): Promise<void> {
  const path = folder + entry.name;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    );
    found.push({ file, path });
    return;
  }
  for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) {
    await collect(child, `${path}/`, found);
  }
}

/** Reads until the end: a reader returns at most a hundred entries, and none at the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}
