// The current view, stored in the fragment: the canister serves one page at `/`.

import { signal } from '@preact/signals';
import { texts } from './language.ts';
import { nameOf } from './words.ts';

export type Route =
  | { readonly view: 'overview' }
  | { readonly view: 'service' }
  | { readonly view: 'files'; readonly bucket: string; readonly prefix: string }
  | { readonly view: 'file'; readonly bucket: string; readonly path: string }
  | { readonly view: 'bucket' | 'deleted'; readonly bucket: string }
  /** `path`: only changes of that file. */
  | { readonly view: 'activity'; readonly bucket: string; readonly path?: string | undefined };

function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** Returns the path in the address of a view; '' if it has none. */
function pathOf(to: Route): string {
  if (to.view === 'files') return to.prefix;
  return to.view === 'file' || to.view === 'activity' ? (to.path ?? '') : '';
}

export function addressOf(route: Route): string {
  if (route.view === 'overview') return '#/';
  if (route.view === 'service') return '#/service';
  const rest = pathOf(route);
  return `#/${route.view}/${encodeURIComponent(route.bucket)}/${encodePath(rest)}`;
}

/** Returns the title of the tab and of a bookmark, such as `summer – demo – Files`. */
export function titleOf(to: Route): string {
  const path = pathOf(to);
  const { page, service, tabs } = texts();
  const place = to.view === 'overview' ? '' : to.view === 'service' ? service.title : to.bucket;
  const tab = to.view in tabs && to.view !== 'files' ? tabs[to.view as keyof typeof tabs] : '';
  return [tab, nameOf(path), place, page.name].filter((part) => part !== '').join(' – ');
}

/** Returns the overview for an unknown fragment. */
function routeOf(fragment: string): Route {
  if (fragment === '#/service') return { view: 'service' };
  const [, view, name = '', rest = ''] =
    /^#\/(files|file|bucket|deleted|activity)\/([^/]+)\/?(.*)$/s.exec(fragment) ?? [];
  try {
    const bucket = decodeURIComponent(name);
    const path = decodeURIComponent(rest);
    if (view === 'files') return { view, bucket, prefix: path };
    if (view === 'file' && path !== '') return { view, bucket, path };
    if (view === 'activity') return { view, bucket, path: path || undefined };
    if (view === 'bucket' || view === 'deleted') return { view, bucket };
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
  }
  return { view: 'overview' };
}

export const route = signal<Route>({ view: 'overview' });

export function go(to: Route): void {
  location.hash = addressOf(to);
}

/** Starts updating the route when the address changes. */
export function followAddress(): void {
  const follow = () => {
    route.value = routeOf(location.hash);
  };
  addEventListener('hashchange', follow);
  follow();
}
