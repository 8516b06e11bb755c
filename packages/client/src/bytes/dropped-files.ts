// Lists dropped or chosen files of a browser, with their paths inside folders.

export interface ChosenFile {
  readonly file: File;
  /** Relative to the folder that it is dropped on or chosen with. */
  readonly path: string;
}

export function chosenFiles(files: Iterable<File>): ChosenFile[] {
  return [...files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}

/** Reads the items before the first await, because the browser clears them then. */
export async function droppedFiles(transfer: DataTransfer): Promise<ChosenFile[]> {
  const items = [...transfer.items]
    .filter(({ kind }) => kind === 'file')
    .map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }));
  const found: ChosenFile[] = [];
  for (const { entry, file } of items) {
    if (entry !== null) await collect(entry, '', found);
    else if (file !== null) found.push({ file, path: file.name });
  }
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
