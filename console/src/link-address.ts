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
