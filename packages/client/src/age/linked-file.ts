// Links to end-to-end files: the fragment is the base64url of the version byte 1 and the file key.

import { decodeBase64Url, encodeBase64Url } from '../bytes/base64-url.ts';
import type { Connection } from '../connection/connection.ts';
import type { OpenedFile } from '../operations/transfers.ts';
import { StorageError } from '../storage-error.ts';
import type { SegmentCipher } from '../types/end-to-end.ts';
import type { FileName } from '../types/files.ts';
import type { Download, DownloadOptions } from '../types/transfers.ts';
import { keysBy, openerByKey } from './header.ts';
import { FileOpener } from './opened-download.ts';
import { softwareSegmentCipher } from './segment-cipher.ts';

const version = 1;
const fragmentBytes = 17;

export function linkFragment(fileKey: Uint8Array): string {
  return encodeBase64Url(Uint8Array.of(version, ...fileKey));
}

/** Returns the 16 bytes of the file's key. Throws InvalidArgument if the fragment is not valid. */
function fileKeyOf(fragment: string): Uint8Array {
  const bytes = decodeBase64Url(fragment);
  if (bytes?.length === fragmentBytes && bytes[0] === version) return bytes.slice(1);
  const words = 'The part of the link after # is not valid; use the complete link.';
  throw new StorageError('InvalidArgument', words);
}

export interface LinkedFile {
  readonly connection: Connection;
  readonly name: FileName;
  readonly file: OpenedFile;
  readonly fragment: string;
  readonly cipher?: SegmentCipher | undefined;
}

export async function openLinkedFile(
  { connection, name, file, fragment, cipher = softwareSegmentCipher }: LinkedFile,
  options: DownloadOptions,
): Promise<Download> {
  const keys = keysBy(openerByKey(fileKeyOf(fragment)));
  return new FileOpener(connection, keys, cipher).download(name, { file, options });
}
