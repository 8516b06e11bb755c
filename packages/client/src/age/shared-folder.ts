// Opens a shared folder of an end-to-end bucket: reads the list of its file keys, and decrypts the
// files that it names, in the versions that it names.

import { type Connection, perform } from '../connection/connection.ts';
import { type FolderAddress, sharedListFolder, shownPrefix } from '../links/folder-address.ts';
import type { OpenedFile } from '../operations/transfers.ts';
import { type PathNames, plainNames } from '../sealed-names/bucket-names.ts';
import { segmentFault } from '../sealed-names/segment-fault.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { SegmentCipher } from '../types/end-to-end.ts';
import type { FileName, FileRecord } from '../types/files.ts';
import type { Download, DownloadOptions } from '../types/transfers.ts';
import {
  decodeSharedList,
  identityOfSecret,
  type SharedKey,
  type SharedList,
  sharedListBytesMax,
} from './folder-list.ts';
import { headerOpener, keysBy, openerByKey } from './header.ts';
import { FileOpener } from './opened-download.ts';
import { softwareSegmentCipher } from './segment-cipher.ts';

export interface SharedFolderKeys {
  readonly names: PathNames;
  /** Returns the record, marked if the list does not open this version of the file. */
  marked<T extends Pick<FileRecord, 'path' | 'etag'>>(
    record: T,
  ): T & Pick<FileRecord, 'afterSharing'>;
  /** `connection`: with plain paths. Throws NoIdentity if the list does not open the file. */
  open(connection: Connection, name: FileName, opened: Opened): Promise<Download>;
}

interface Opened {
  readonly file: OpenedFile;
  readonly options: DownloadOptions;
}

type Place = FolderAddress & { readonly sealed: NonNullable<FolderAddress['sealed']> };

/** `connection`: with stored paths. */
export async function openSharedFolder(
  connection: Connection,
  place: Place,
  cipher: SegmentCipher = softwareSegmentCipher,
): Promise<SharedFolderKeys> {
  const list = await readList(connection, place, cipher);
  const { prefix } = place;
  const keys = new Map(list.files.map((one) => [prefix + one.stored, one]));
  const names = namesIn(list, place);
  const fault = ({ path, etag }: Pick<FileRecord, 'path' | 'etag'>) => {
    const known = keys.get(names.seal(path));
    return known === undefined ? 'added' : known.etag === etag ? undefined : 'replaced';
  };
  return {
    names,
    marked(record) {
      const afterSharing = fault(record);
      return afterSharing === undefined ? record : { ...record, afterSharing };
    },
    open(opening, name, opened) {
      const { etag } = opened.file;
      const afterSharing = fault({ path: name.path, etag });
      if (afterSharing !== undefined) throw notShared(name.path, afterSharing);
      const { fileKey } = keys.get(names.seal(name.path)) as SharedKey;
      return new FileOpener(opening, keysBy(openerByKey(fileKey)), cipher).download(name, opened);
    },
  };
}

function notShared(path: string, afterSharing: 'added' | 'replaced'): StorageError {
  return new StorageError(
    'NoIdentity',
    `The file ${JSON.stringify(path)} was ${afterSharing} after the folder was shared, so the link ` +
      'does not open it. Ask the sender to refresh the link.',
  );
}

async function readList(
  connection: Connection,
  { bucket, prefix, sealed }: Place,
  cipher: SegmentCipher,
): Promise<SharedList> {
  const identity = identityOfSecret(sealed.secret);
  const name = { bucket, path: prefix + sealed.list };
  const file = await perform(
    connection,
    'openFile',
    { ...name, wantsFirst: true },
    undefined,
  ).catch(explained);
  if (file.size > sharedListBytesMax) {
    const words = `The list of the folder's file keys has ${file.size} bytes, more than any list.`;
    throw new StorageError('IntegrityError', words);
  }
  const opener = headerOpener({ identities: [identity], passphrases: [] });
  const keys = keysBy((header) => opener(header).catch(wrongSecret));
  const opened = await new FileOpener(connection, keys, cipher).download(name, {
    file,
    options: {},
  });
  return decodeSharedList(await opened.bytes(), prefix);
}

function explained(error: unknown): never {
  if (!isStorageError(error, 'NoSuchFile')) throw error;
  const words =
    "The list of the folder's file keys does not exist: the link was removed, or the list was " +
    'moved or deleted. Ask the sender to refresh the link.';
  throw new StorageError('NoSuchFile', words, error);
}

function wrongSecret(error: unknown): never {
  if (!isStorageError(error, 'NoIdentity')) throw error;
  const words =
    "The secret in the address does not open the list of the folder's file keys: use the complete " +
    'address. If it is complete, the list was replaced by another one.';
  throw new StorageError('IntegrityError', words);
}

/** Names by the list, which has no names of other files: these are shown as they are stored. */
function namesIn({ files }: SharedList, { prefix, sealed }: Place): PathNames {
  if (sealed.list.startsWith(sharedListFolder)) return plainNames;
  const { name = 'folder' } = sealed;
  if (segmentFault(name) !== undefined) {
    const words = `The name ${JSON.stringify(name)} in the address is not a name of a folder.`;
    throw new StorageError('InvalidArgument', words);
  }
  const shown = shownPrefix({ prefix, sealed });
  const plainOf = new Map([[sealed.list.split('/', 1)[0] ?? '', sharedListFolder.slice(0, -1)]]);
  for (const { stored, path } of files) {
    const plain = path.split('/');
    for (const [index, name] of stored.split('/').entries()) plainOf.set(name, plain[index] ?? '');
  }
  const storedOf = new Map([...plainOf].map(([stored, plain]) => [plain, stored]));
  const mapped = (path: string, names: ReadonlyMap<string, string>) =>
    path
      .split('/')
      .map((name) => names.get(name) ?? name)
      .join('/');
  return {
    isSealing: true,
    seal(path) {
      if (!path.startsWith(shown)) return path;
      return prefix + mapped(path.slice(shown.length), storedOf);
    },
    open(path) {
      if (!path.startsWith(prefix)) return { path, isPathAsStored: true };
      const rest = path.slice(prefix.length);
      const opened = { path: shown + mapped(rest, plainOf) };
      const isKnown = rest.split('/').every((name) => name === '' || plainOf.has(name));
      return isKnown ? opened : { ...opened, isPathAsStored: true };
    },
    openText: (text, paths) =>
      [...new Set(paths.flatMap((path) => path.split('/')))].reduce((words, name) => {
        const stored = storedOf.get(name);
        return stored === undefined ? words : words.replaceAll(stored, () => name);
      }, text),
  };
}
