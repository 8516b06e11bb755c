// The file behind the link at which this page was opened.

import { volumeLink } from '../../packages/client/src/links/front-link.ts';
import { linkOf, lockOf } from '../../packages/client/src/links/locked-link.ts';
import { StorageError } from '../../packages/client/src/storage-error.ts';
import { thisService, volumeAddress, volumeIds } from './service.ts';

/** Returns the file's address at its volume; throws if another service created the link. */
export async function fileOfLink(link: URL): Promise<URL> {
  const { isAtFront } = await thisService();
  const file = volumeLink(linkOf(link));
  // A volume's own console opens only links with a password to files that are not encrypted here
  const isOwn = !isAtFront && lockOf(file)?.fileKey === '';
  const addresses = isAtFront ? (await volumeIds()).map(volumeAddress) : [];
  if (isOwn || addresses.includes(file.origin)) return file;
  throw new StorageError('NoSuchFile', 'This link does not belong to this service.');
}

/**
 * Returns the command that downloads the file of a link, or undefined for other addresses. The
 * sender chose the name, so it is encoded again: the remaining characters have no special meaning
 * between double quotes in sh, PowerShell and cmd.exe.
 */
export function fetchCommand(link: URL): string | undefined {
  const { origin, pathname, search, hash } = volumeLink(link);
  const [, id, name = ''] = /^\/s\/([\w-]{16})\/([^/]+)$/.exec(pathname) ?? [];
  const [, secret] = /^\?k=([\w-]{22})$/.exec(search) ?? [];
  const [, fileKey, sealedName] = /^#([\w-]+)(?:\/(.+))?$/.exec(hash) ?? [];
  if (id === undefined || secret === undefined || fileKey === undefined) return undefined;
  try {
    const end = sealedName === undefined ? fileKey : `${fileKey}/${strictly(sealedName)}`;
    return `npx efs get "${origin}/s/${id}/${strictly(name)}?k=${secret}#${end}"`;
  } catch {
    // Malformed percent-encoding
    return undefined;
  }
}

function strictly(encoded: string): string {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(decodeURIComponent(encoded)).replace(/[!'()*]/g, code);
}
