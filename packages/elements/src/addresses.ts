// Addresses of the service: upload links that a page gives, and files, whose addresses are built
// here and never taken from an answer, because one node can invent an answer.

import { cloudPath, withoutLastSlashes } from '../../client/src/operations/url-paths.ts';
import { isBucketId } from '../../wire/src/bucket-id.ts';

/** A place that takes uploads. */
export interface UploadPlace {
  /** Origin of the service. */
  readonly url: string;
  readonly bucket: string;
  /** The secret of an upload link as a query; '' for uploads by a key. */
  readonly query: string;
  /** The path of a file, as far as it is known: it follows from `putUrl` alone. */
  path(name: string): string | undefined;
}

const linkPattern = /^\/api\/v1\/(?:tus\/([^/]+)|bucket\/([^/]+)\/files(\/.*)?)$/;
const placeholder = '{name}';

/** Returns undefined unless `link` is `putUrl`, `formUrl` or `tusUrl` of an upload link. */
export function readUploadLink(link: string): UploadPlace | undefined {
  const url = webAddress(link);
  const [, ofTus, ofFiles, rest] = linkPattern.exec(url?.pathname ?? '') ?? [];
  const secret = url?.searchParams.get('upload') ?? '';
  const bucket = ofTus ?? ofFiles ?? '';
  if (url === undefined || !isBucketId(bucket) || !/^efu_[\w-]+$/.test(secret)) return undefined;
  const path = decoded(rest?.slice(1));
  return {
    url: url.origin,
    bucket,
    query: `?upload=${secret}`,
    path: (name) => {
      if (!path?.endsWith(placeholder)) return path;
      return path.slice(0, -placeholder.length) + name;
    },
  };
}

function decoded(path: string | undefined): string | undefined {
  try {
    return path && decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** Returns the address if it is one of http or https; a relative one belongs to the page. */
function webAddress(text: string): URL | undefined {
  if (text === '' || !URL.canParse(text, document.baseURI)) return undefined;
  const url = new URL(text, document.baseURI);
  return /^https?:$/.test(url.protocol) ? url : undefined;
}

/** Returns the service's address without a final slash, by default the page's own origin. */
export function serviceAddress(text: string): string | undefined {
  const url = webAddress(text || location.origin);
  return url && withoutLastSlashes(url.origin + url.pathname);
}

export interface NamedFile {
  readonly bucket: string;
  readonly path: string;
}

/** Returns undefined for a path that no file can have. */
export function fileAddress(service: string, file: NamedFile): string | undefined {
  try {
    return service + cloudPath(file);
  } catch {
    return undefined;
  }
}

/** Returns the address of a public file's thumbnail. */
export function thumbnailAddress(service: string, file: NamedFile): string | undefined {
  const address = fileAddress(service, file);
  return address && `${address}?thumbnail`;
}

/** Returns the address of a public file or a link, undefined for any other address. */
export function shownAddress(text: string): URL | undefined {
  const url = webAddress(text);
  return url && /^\/(?:cloud|s)\/./.test(url.pathname) ? url : undefined;
}
