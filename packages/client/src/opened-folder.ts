// A folder that was opened by its link; the code is loaded with the first one.

import { addressBeside } from './connection/canister-address.ts';
import type { CommonOptions } from './http-storage.ts';
import {
  type FolderAddress,
  folderAddressOf,
  isOfSharedList,
  shownPrefix,
} from './links/folder-address.ts';
import { folderLayer } from './shared-folder-layer.ts';
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

export function openedFolder(url: string, options: FolderLinkOptions): SharedFolder {
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
