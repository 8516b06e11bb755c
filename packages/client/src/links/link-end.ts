// The fragment of a link's address, which browsers never send: the key of an end-to-end file and,
// if names are sealed, a slash and the percent-encoded name.

export function linkEnd(fileKey: string, sealedName: string | undefined): string {
  return sealedName === undefined ? fileKey : `${fileKey}/${encodeURIComponent(sealedName)}`;
}

/** Returns the file's key, or '' if the address has none. */
export function fileKeyAt({ hash }: URL): string {
  return hash.slice(1).split('/', 1)[0] ?? '';
}

/**
 * Returns the file's name, or `file` if the address has no usable one. Whoever made the address
 * chose the name, so only a single name without folders is accepted.
 */
export function linkedName({ pathname, hash }: URL): string {
  const [, named = ''] = hash.split('/', 2);
  return nameIn(named) ?? nameIn(pathname.split('/').at(-1) ?? '') ?? 'file';
}

function nameIn(encoded: string): string | undefined {
  try {
    const name = decodeURIComponent(encoded);
    return /^\.{0,2}$|[/\0]/.test(name) ? undefined : name;
  } catch {
    // A percent sign that encodes nothing.
    return undefined;
  }
}
