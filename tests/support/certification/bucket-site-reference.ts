// A plain reference model of a bucket that may be a site: the public answer at each of its
// addresses.

export interface ReferenceBucket {
  readonly files: ReadonlyMap<string, string>;
  readonly isSite: boolean;
  readonly isPublic: boolean;
}

export interface ReferenceReply {
  readonly status: number;
  /** The text of the body, or the address of a redirect. */
  readonly text: string;
  /** The field Content-Security-Policy; '' if it is absent. */
  readonly policy: string;
}

const nothing: ReferenceReply = { status: 404, text: 'NoSuchFile', policy: '' };
const strict = 'sandbox';
const loose =
  'sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-modals ' +
  'allow-downloads allow-top-navigation-by-user-activation';

/** `address`: the part of the URL after the bucket's name. Files have the type text/html. */
export function referenceReply(bucket: ReferenceBucket, address: string): ReferenceReply {
  const { files, isSite, isPublic } = bucket;
  if (!isPublic) return nothing;
  const policy = isSite ? loose : strict;
  const path = address.slice(1);
  const file = files.get(path);
  if (file !== undefined) return { status: 200, text: file, policy };
  if (!isSite) return nothing;
  const isFolder = address.endsWith('/');
  const folder = isFolder ? path : `${path}/`;
  const index = files.get(folder === '/' ? 'index.html' : `${folder}index.html`);
  const rootIndex = address === '/' ? files.get('index.html') : undefined;
  if (isFolder && (rootIndex ?? index) !== undefined) {
    return { status: 200, text: rootIndex ?? index ?? '', policy };
  }
  const isIndex = path === 'index' || path.endsWith('/index');
  const clean = isFolder || path === '' || isIndex ? undefined : files.get(`${path}.html`);
  if (clean !== undefined) return { status: 200, text: clean, policy };
  if (!isFolder && index !== undefined) {
    const name = address === '' ? 'demo' : encodeURIComponent(path.split('/').at(-1) ?? '');
    return { status: 308, text: `./${name}/`, policy: '' };
  }
  const page = files.get('404.html');
  return page === undefined ? nothing : { status: 404, text: page, policy };
}
