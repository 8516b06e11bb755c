// The address of a link at which this page was opened, `/s/{id}/{name}?k=…#…`. What stands behind #
// opens the file: it goes from the address bar at once, so that no history and no copied address
// has it, and stays with the tab, so that a reload opens the file again.

export function isAtLink(): boolean {
  return location.pathname.startsWith('/s/');
}

/** Whole; without an end where the tab was opened without one. */
export function takeLink(): URL {
  const { pathname, search, hash } = location;
  const keptName = `efs-link${pathname}`;
  if (hash.length > 1) sessionStorage.setItem(keptName, hash);
  if (location.href.includes('#')) history.replaceState(null, '', pathname + search);
  return new URL(`${pathname}${search}${sessionStorage.getItem(keptName) ?? ''}`, location.origin);
}

/**
 * Returns the command that fetches the file of a link, or undefined when the address is not that of
 * a link. The sender chose the name, so it is encoded anew: in double quotes none of the characters
 * left means anything to sh, PowerShell or cmd.exe.
 */
export function fetchCommand({ origin, pathname, search, hash }: URL): string | undefined {
  const [, id, name = ''] = /^\/s\/([\w-]{16})\/([^/]+)$/.exec(pathname) ?? [];
  const [, secret] = /^\?k=([\w-]{22})$/.exec(search) ?? [];
  const [, fileKey, sealedName] = /^#([\w-]+)(?:\/(.+))?$/.exec(hash) ?? [];
  if (id === undefined || secret === undefined || fileKey === undefined) return undefined;
  try {
    const end = sealedName === undefined ? fileKey : `${fileKey}/${strictly(sealedName)}`;
    return `npx efs get "${origin}/s/${id}/${strictly(name)}?k=${secret}#${end}"`;
  } catch {
    // A percent sign that encodes nothing.
    return undefined;
  }
}

function strictly(encoded: string): string {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(decodeURIComponent(encoded)).replace(/[!'()*]/g, code);
}
