// Reads a file by its share link. The fragment, the key of an end-to-end file, is never sent.

import { encodeHex } from './bytes/bytes.ts';
import { perform } from './connection/connection.ts';
import { defaultRetryPolicy, retry } from './connection/retry.ts';
import { downloadFile } from './downloads/download.ts';
import { exchangeJson, type HttpConnection, type HttpRequest } from './http/exchange.ts';
import { partPreference } from './http/files.ts';
import { createHttpTransport } from './http/transport.ts';
import { type CommonOptions, connectionOver, exchangeOptions } from './http-storage.ts';
import { volumeLink } from './links/front-link.ts';
import { fileKeyAt, linkEnd, linkedName } from './links/link-end.ts';
import { isLocked, linkOf, lockOf } from './links/locked-link.ts';
import { StorageError } from './storage-error.ts';
import type { SegmentCipher } from './types/end-to-end.ts';
import type { Download, DownloadOptions } from './types/transfers.ts';

export interface LinkOptions
  extends Omit<DownloadOptions, 'version'>,
    Pick<CommonOptions, 'fetch' | 'retry' | 'onRetry' | 'timeoutMs' | 'contentTypeOf'> {
  /**
   * Decrypts end-to-end files; by @noble/ciphers by default.
   *
   * @example
   * ```ts
   * import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
   * import { openLink, type SegmentCipher } from '@encrypted-file-storage/client';
   *
   * const cipher: SegmentCipher = {
   *   seal: (key, nonce, bytes) => chacha20poly1305(key, nonce).encrypt(bytes),
   *   open: (key, nonce, sealed) => chacha20poly1305(key, nonce).decrypt(sealed),
   * };
   * const { url } = await storage.links.create({ bucket: 'demo', path: 'notes/hello.txt' });
   * console.log((await openLink(url, { cipher })).size);
   * ```
   */
  readonly cipher?: SegmentCipher | undefined;
  /**
   * The password of a link that needs one.
   *
   * @example
   * ```ts
   * import { openLink } from '@encrypted-file-storage/client';
   *
   * const password = 'violet anchor 7';
   * const file = { bucket: 'demo', path: 'notes/hello.txt' };
   * const { url } = await storage.links.create({ ...file, password });
   * console.log((await openLink(url, { password })).size);
   * ```
   */
  readonly password?: string | undefined;
}

/**
 * Downloads the file of an address that `links.create()` returned. Needs no key and no identity.
 *
 * @example
 * ```ts
 * import { openLink } from '@encrypted-file-storage/client';
 *
 * const { url } = await storage.links.create({ bucket: 'demo', path: 'notes/hello.txt' });
 * const download = await openLink(url);
 * console.log(await new Response(download.body).text());
 * ```
 */
export async function openLink(url: string, options: LinkOptions = {}): Promise<Download> {
  if (!URL.canParse(url)) {
    throw new StorageError('InvalidArgument', 'A link is a whole address: https://…');
  }
  const address = await addressWithSecret(url, options);
  const { origin, pathname, search } = address;
  const http = httpOf(origin, options);
  const fetch = (asked: unknown, init?: RequestInit) => {
    const preference = String(asked).endsWith(partPreference) ? partPreference : '';
    return http.fetch(origin + pathname + search + preference, init);
  };
  // Every request of the download goes to the link.
  const connection = connectionOver(createHttpTransport({ ...http, fetch }), options);
  const { signal, range } = options;
  const name = { bucket: 'link', path: linkedName(address) };
  const request = { ...name, wantsFirst: range === undefined };
  const file = await perform(connection, 'openFile', request, signal);
  const fragment = fileKeyAt(address);
  if (fragment === '') return downloadFile(connection, name, options, file);
  const { openLinkedFile } = await import('./age/linked-file.ts');
  const linked = { connection, name, file, fragment, cipher: options.cipher };
  return openLinkedFile(linked, options);
}

function httpOf(url: string, options: LinkOptions) {
  const { fetch, timeoutMs, line } = exchangeOptions(options);
  return { url, apiKey: undefined, timeoutMs, line, fetch };
}

async function addressWithSecret(url: string, options: LinkOptions): Promise<URL> {
  if (!needsPassword(url)) {
    const address = volumeLink(new URL(url));
    // The address of a link with a title asks for its page
    if (address.searchParams.has('page')) address.searchParams.delete('page');
    return address;
  }
  const { password } = options;
  if (password !== undefined) return new URL(await unlockLink(url, { ...options, password }));
  throw new StorageError('AccessDenied', 'The link needs a password: pass it as password.');
}

/**
 * Returns the address with which a link that needs a password opens like any other. Throws
 * AccessDenied if the password is wrong, and SlowDown after ten wrong ones.
 *
 * @example
 * ```ts
 * import { unlockLink } from '@encrypted-file-storage/client';
 *
 * const password = 'violet anchor 7';
 * const file = { bucket: 'demo', path: 'notes/hello.txt' };
 * const { url } = await storage.links.create({ ...file, password });
 * console.log(await unlockLink(url, { password }));
 * ```
 */
export async function unlockLink(
  url: string,
  options: LinkOptions & { readonly password: string },
): Promise<string> {
  const address = volumeLink(linkOf(new URL(url)));
  const { salt, fileKey } = lockOf(address) ?? {};
  if (salt === undefined) return address.href;
  const { masked, passwordKeys } = await import('./links/link-password.ts');
  const { proof, mask } = await passwordKeys(options.password, salt);
  const { signal, onRetry } = options;
  const connection = httpOf(address.origin, options);
  const proving = {
    ...{ method: 'POST', path: address.pathname, signal, isAnonymous: true },
    // A body of plain text, so that pages of other origins send no preflight
    body: JSON.stringify({ proof: encodeHex(proof) }),
  };
  const policy = { ...defaultRetryPolicy, ...options.retry };
  address.search = await retry(() => queryFor(connection, proving), { policy, onRetry, signal });
  const [, name] = address.hash.split('/', 2);
  address.hash = fileKey ? linkEnd(masked(fileKey, mask), name && decodeURIComponent(name)) : '';
  return address.href;
}

/** Throws AccessDenied if the password is wrong. */
async function queryFor(connection: HttpConnection, proving: HttpRequest): Promise<string> {
  const { url } = await exchangeJson<{ readonly url?: string }>(connection, proving);
  const [, secret] = /^[^?]*\?k=([\w-]{22})$/.exec(url ?? '') ?? [];
  if (secret !== undefined) return `?k=${secret}`;
  throw new StorageError('HttpError', 'The service answered with an address that is not a link.');
}

/**
 * Returns whether the link of the address needs a password. Sends no request.
 *
 * @example
 * ```ts
 * import { needsPassword } from '@encrypted-file-storage/client';
 *
 * const file = { bucket: 'demo', path: 'notes/hello.txt' };
 * const { url } = await storage.links.create({ ...file, password: 'violet anchor 7' });
 * console.log(needsPassword(url));
 * ```
 */
export function needsPassword(url: string): boolean {
  return URL.canParse(url) && isLocked(linkOf(new URL(url)));
}
