// Reads a file by its share link. The fragment, the key of an end-to-end file, is never sent.

import { perform } from './connection/connection.ts';
import { downloadFile } from './downloads/download.ts';
import { partPreference } from './http/files.ts';
import { createHttpTransport } from './http/transport.ts';
import { type CommonOptions, connectionOver, exchangeOptions } from './http-storage.ts';
import { volumeLink } from './links/front-link.ts';
import { fileKeyAt, linkedName } from './links/link-end.ts';
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
  const address = volumeLink(new URL(url));
  const { origin, pathname, search } = address;
  const { fetch, timeoutMs, line } = exchangeOptions(options);
  const http = {
    url: origin,
    apiKey: undefined,
    timeoutMs,
    line,
    // Every request of the download goes to the link.
    fetch: (asked: unknown, init?: RequestInit) => {
      const preference = String(asked).endsWith(partPreference) ? partPreference : '';
      return fetch(origin + pathname + search + preference, init);
    },
  };
  const connection = connectionOver(createHttpTransport(http), options);
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
