// Reading a file by a link, of any bucket. What opens a file of an end-to-end one stands behind the
// address's #, and stays here.

import { trying } from './connection/connection.ts';
import { downloadFile } from './downloads/download.ts';
import { createHttpTransport } from './http/transport.ts';
import { type CommonOptions, connectionOver, exchangeOptions } from './http-storage.ts';
import { fileKeyAt, linkedName } from './links/link-end.ts';
import { StorageError } from './storage-error.ts';
import type { PieceCipher } from './types/end-to-end.ts';
import type { Download, DownloadOptions } from './types/transfers.ts';

export interface LinkOptions
  extends Omit<DownloadOptions, 'version'>,
    Pick<CommonOptions, 'fetch' | 'retry' | 'onRetry' | 'timeoutMs' | 'contentTypeOf'> {
  /** Of end-to-end files; @noble/ciphers unless told. */
  readonly cipher?: PieceCipher | undefined;
}

/** The file that `links.create()` has made the address of. */
export async function openLink(url: string, options: LinkOptions = {}): Promise<Download> {
  if (!URL.canParse(url)) {
    throw new StorageError('InvalidArgument', 'A link is a whole address: https://….');
  }
  const address = new URL(url);
  const { origin, pathname, search } = address;
  const { fetch, timeoutMs, line } = exchangeOptions(options);
  const http = {
    url: origin,
    apiKey: undefined,
    timeoutMs,
    line,
    // Whatever is asked for is there.
    fetch: (_: unknown, init?: RequestInit) => fetch(origin + pathname + search, init),
  };
  const connection = connectionOver(createHttpTransport(http), options);
  const { signal, range } = options;
  const name = { bucket: 'link', path: linkedName(address) };
  const file = await trying(connection, signal, () =>
    connection.transport.openFile(name, { wantsFirst: range === undefined, signal }),
  );
  const fragment = fileKeyAt(address);
  if (fragment === '') return downloadFile(connection, name, options, file);
  const { openLinkedFile } = await import('./age/linked-file.ts');
  const linked = { connection, name, file, fragment, cipher: options.cipher };
  return openLinkedFile(linked, options);
}
