// Paths in the tree: labels as texts, joined by NUL, which names do not contain.

import { singleSlashes } from '../lib/url-paths.ts';

export interface FileName {
  readonly bucketId: string;
  /** Without a leading slash. */
  readonly path: string;
}

const exactEnd = '<$>';
export const wildcard = '<*>';
/** At a front, the list of its volumes as a value, for clients that call the actor. */
export const volumesText = 'volumes';
export const outermostText = `http_expr\0${wildcard}`;
export const apiText = `http_expr\0api\0${wildcard}`;
export const metricsText = `http_expr\0metrics\0${wildcard}`;
export const cloudText = `http_expr\0cloud\0${wildcard}`;

export function bucketText(bucketId: string): string {
  return `http_expr\0cloud\0${bucketId}`;
}

/** Returns the path for missing paths of a public bucket; a private one has no such entry. */
export function missingText(bucketId: string): string {
  return siteText({ bucketId, address: '', isWildcard: true });
}

export function fileText({ bucketId, path }: FileName): string {
  return `${bucketText(bucketId)}\0${path.replaceAll('/', '\0')}\0${exactEnd}`;
}

/**
 * Returns the path of a link's leaves. It does not contain the file's name, because a proof that a
 * neighbouring path is absent would show the name. The empty label prevents a request for the
 * segment `<*>` from matching.
 */
export function linkText(id: string): string {
  return `${linkPrefix(id)}\0\0${wildcard}`;
}

/** Returns the id of a link from a path below the folder of links. */
export function linkIdOf(text: string): string | undefined {
  const [, folder, id] = text.split('\0', 3);
  return folder === 's' ? id : undefined;
}

/** Returns the path above all leaves of the link. */
export function linkPrefix(id: string): string {
  return `http_expr\0s\0${id}`;
}

/** An address of a site that names no file. */
export interface SiteAddress {
  readonly bucketId: string;
  /** The part of the URL after the bucket: '', or a path with its leading slash. */
  readonly address: string;
  /** Whether it covers the address, without a final slash, and everything below it. */
  readonly isWildcard: boolean;
}

/** Returns the path of the address; after a final slash, its last label is empty. */
export function siteText({ bucketId, address, isWildcard }: SiteAddress): string {
  const labels = address.replaceAll('/', '\0');
  return `${bucketText(bucketId)}${labels}\0${isWildcard ? wildcard : exactEnd}`;
}

/**
 * Returns the path of an address, which begins with a slash. An address that ends in the wildcard
 * covers everything below it.
 */
export function addressText(address: string): string {
  const labels = `http_expr${address.replaceAll('/', '\0')}`;
  return address.endsWith(`/${wildcard}`) ? labels : `${labels}\0${exactEnd}`;
}

/** Returns the paths of a front's redirects to a public bucket of a volume. */
export function addressTexts(bucketId: string): string[] {
  return [addressText(`/b/${bucketId}`), addressText(`/b/${bucketId}/`)];
}

/**
 * Cache of the last result: a message asks for it several times, and thousands of segments take
 * millions of instructions.
 */
let latest: { readonly urlPath: string; readonly text: string } | undefined;

/** Returns a verifier's form of a decoded URL path: empty segments count only at its end. */
export function requestText(urlPath: string): string {
  if (latest?.urlPath !== urlPath) latest = { urlPath, text: labelText(urlPath) };
  return latest.text;
}

function labelText(urlPath: string): string {
  const single = singleSlashes(urlPath);
  const isRooted = single === '' || single.startsWith('/');
  return `http_expr${isRooted ? '' : '\0'}${single.split('/').join('\0')}\0${exactEnd}`;
}
