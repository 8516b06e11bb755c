// Opens a folder by its link: an address with an API key in the fragment, which is never sent to
// the page of the address.

import { addressBeside } from './connection/canister-address.ts';
import { folderLayer } from './folder-layer.ts';
import type { CommonOptions } from './http-storage.ts';
import {
  type FolderAddress,
  folderAddressOf,
  isOfSharedList,
  shownPrefix,
} from './links/folder-address.ts';
import { createStorage, type Storage } from './storage.ts';
import { StorageError } from './storage-error.ts';
import type { SegmentCipher } from './types/end-to-end.ts';
import type { SharedFolder } from './types/folder-links.ts';

export interface FolderLinkOptions
  extends Pick<CommonOptions, 'fetch' | 'retry' | 'onRetry' | 'timeoutMs' | 'contentTypeOf'> {
  /**
   * Decrypts end-to-end files; by @noble/ciphers by default.
   *
   * @example
   * ```ts
   * import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
   * import { openFolderLink, type SegmentCipher } from '@encrypted-file-storage/client';
   *
   * const cipher: SegmentCipher = {
   *   seal: (key, nonce, bytes) => chacha20poly1305(key, nonce).encrypt(bytes),
   *   open: (key, nonce, sealed) => chacha20poly1305(key, nonce).decrypt(sealed),
   * };
   * const { url } = await storage.folderLinks.create({ bucket: 'demo', prefix: 'notes/' });
   * console.log(await (await openFolderLink(url, { cipher })).download('hello.txt'));
   * ```
   */
  readonly cipher?: SegmentCipher | undefined;
}

/** The storage of a folder's link, for the command. */
export interface FolderStorage {
  readonly storage: Storage;
  readonly bucket: string;
  /** With plain names. */
  readonly prefix: string;
  /** The address of the folder's volume. */
  readonly service: string;
}

export function folderStorage(url: string, options: FolderLinkOptions = {}): FolderStorage {
  if (!URL.canParse(url)) {
    throw new StorageError('InvalidArgument', 'A link is a whole address: https://…');
  }
  const { origin, hash } = new URL(url);
  const address = folderAddressOf(hash);
  const { key: apiKey, bucket } = address;
  const { cipher, ...common } = options;
  const endToEnd = folderLayer(address, cipher);
  const service = volumeOf(origin, address);
  const storage = createStorage({ ...common, url: service, apiKey, endToEnd });
  return { storage, bucket, prefix: shownPrefix(address), service };
}

function volumeOf(origin: string, { volume }: FolderAddress): string {
  return volume === undefined ? origin : addressBeside(origin, volume);
}

/**
 * Opens the folder of an address that `folderLinks.create()` returned. Needs no key and no
 * identity. Sends no request before the first list or download.
 *
 * @example
 * ```ts
 * import { openFolderLink } from '@encrypted-file-storage/client';
 *
 * const { url } = await storage.folderLinks.create({ bucket: 'demo', prefix: 'notes/' });
 * const folder = await openFolderLink(url);
 * for await (const { path } of folder.list()) {
 *   console.log(path, (await (await folder.download(path)).bytes()).length);
 * }
 * ```
 */
export async function openFolderLink(
  url: string,
  options: FolderLinkOptions = {},
): Promise<SharedFolder> {
  const { storage, bucket, prefix } = folderStorage(url, options);
  return {
    async *list({ signal } = {}) {
      for await (const record of storage.list({ bucket, prefix: prefix || undefined, signal })) {
        if (isOfSharedList(record.path)) continue;
        yield { ...record, path: record.path.slice(prefix.length) };
      }
    },
    download: (path, asked) => storage.download({ bucket, path: prefix + path }, asked),
  };
}
