// What stands behind the # of a link's address, which is sent to nobody: what opens a file of an
// end-to-end bucket, and where names are sealed a slash and the file's name, percent-encoded.

export function linkEnd(fileKey: string, sealedName: string | undefined): string {
  return sealedName === undefined ? fileKey : `${fileKey}/${encodeURIComponent(sealedName)}`;
}

/** '' of an address without it. */
export function fileKeyAt({ hash }: URL): string {
  return hash.slice(1).split('/', 1)[0] ?? '';
}

/**
 * What the file is called: whoever has made the address could say anything, so it is one name, of
 * no folder. `file` where nothing tells.
 */
export function linkedName({ pathname, hash }: URL): string {
  const [, told = ''] = hash.split('/', 2);
  return nameIn(told) ?? nameIn(pathname.split('/').at(-1) ?? '') ?? 'file';
}

function nameIn(encoded: string): string | undefined {
  try {
    const name = decodeURIComponent(encoded);
    return /^\.{0,2}$|[/\0]/.test(name) ? undefined : name;
  } catch {
    // A percent sign that stands for nothing.
    return undefined;
  }
}
