// The rules for chosen files: types as in the `accept` attribute of a file input, number, size.

/** Whether a file matches `accept` (HTML standard, "file upload state"); '' accepts every file. */
export function isAccepted({ name, type }: Pick<File, 'name' | 'type'>, accept: string): boolean {
  const wanted = accept
    .toLowerCase()
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const [lowName, lowType] = [name.toLowerCase(), type.toLowerCase()];
  const matches = (part: string) => {
    if (part.startsWith('.')) return lowName.endsWith(part);
    return part.endsWith('/*') ? lowType.startsWith(part.slice(0, -1)) : lowType === part;
  };
  return wanted.length === 0 || wanted.some(matches);
}

/** A dropped file, or a folder, which cannot be read as a file. */
interface DroppedItem {
  readonly file: File;
  readonly isFolder: boolean;
}

export function droppedItems({ items }: DataTransfer): DroppedItem[] {
  return [...items].flatMap((item) => {
    const file = item.kind === 'file' ? item.getAsFile() : null;
    const isFolder = item.webkitGetAsEntry?.()?.isDirectory === true;
    return file === null ? [] : [{ file, isFolder }];
  });
}
