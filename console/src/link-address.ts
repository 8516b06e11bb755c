// The address of the link at which this page was opened, `/s/{volume}/{id}/{name}?k=…#…`. The
// fragment decrypts the file. The page removes it from the address bar at once, so that no history
// and no copied address contains it, and stores it in sessionStorage for a reload.

export function isAtLink(): boolean {
  return location.pathname.startsWith('/s/');
}

/** Returns the address with its fragment, if the tab was opened with one. */
export function takeLink(): URL {
  const { pathname, search, hash } = location;
  const keptName = `efs-link${pathname}`;
  if (hash.length > 1) sessionStorage.setItem(keptName, hash);
  if (location.href.includes('#')) history.replaceState(null, '', pathname + search);
  return new URL(`${pathname}${search}${sessionStorage.getItem(keptName) ?? ''}`, location.origin);
}
