// The address of the link at which this page was opened: `/s/{volume}/{id}/{name}?k=…#…` at a
// front, or `/#/s/{id}/{name}/p.…` at a volume, for a link with a password. The fragment has a
// secret. The page removes it from the address bar at once, so that no history and no copied
// address contains it, and stores it in sessionStorage for a reload.

const atConsole = /^#(\/s\/[\w-]+\/[^/]+)(?:\/(.*))?$/;

export function isAtLink(): boolean {
  return location.pathname.startsWith('/s/') || atConsole.test(location.hash);
}

/** Returns the address with its fragment, if the tab was opened with one. */
export function takeLink(): URL {
  const { pathname, search, hash, origin } = location;
  const [, path, end = ''] = atConsole.exec(hash) ?? [];
  if (path !== undefined) {
    const kept = keep(path, end && `/${end}`);
    history.replaceState(null, '', `/#${path}`);
    return new URL(`/#${path}${kept}`, origin);
  }
  const kept = keep(pathname, hash.length > 1 ? hash : '');
  if (location.href.includes('#')) history.replaceState(null, '', pathname + search);
  return new URL(`${pathname}${search}${kept}`, origin);
}

/** Stores the secret part, or returns the one that is stored. */
function keep(path: string, secret: string): string {
  const name = `efs-link${path}`;
  if (secret !== '') sessionStorage.setItem(name, secret);
  return secret || (sessionStorage.getItem(name) ?? '');
}
