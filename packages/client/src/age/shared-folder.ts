// Opens a shared folder of an end-to-end bucket: reads the list of its file keys, and decrypts the
// files that it names, in the versions that it names.

import { type Connection, perform } from '../connection/connection.ts';
import { type FolderAddress, sharedListFolder, shownPrefix } from '../links/folder-address.ts';
import type { OpenedFile } from '../operations/transfers.ts';
import { type PathNames, plainNames } from '../sealed-names/bucket-names.ts';
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
import { openHeader, requireFileKey } from './header.ts';
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
      const own = {
        async fileKeyOf(_: unknown, header: Uint8Array) {
          await requireFileKey(header, fileKey);
          return fileKey;
        },
      };
      return new FileOpener(opening, own, cipher).download(name, opened);
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
  const keys = {
    fileKeyOf: (_: unknown, header: Uint8Array) =>
      openHeader(header, { identities: [identity], passphrases: [] }).catch(wrongSecret),
  };
  const opened = await new FileOpener(connection, keys, cipher).download(name, {
    file,
    options: {},
  });
  return decodeSharedList(await opened.bytes(), prefix);
}

function explained(error: unknown): never {
  if (!isStorageError(error, 'NoSuchFile')) throw error;
  const words = 'The list of the folder’s file keys does not exist: the link was removed.';
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
  if (sealed.name === undefined && files.every(({ path, stored }) => path === stored)) {
    return plainNames;
  }
  const plainOf = new Map<string, string>();
  const learn = (stored: string, plain: string) => {
    const [names, others] = [stored.split('/'), plain.split('/')];
    for (const [index, name] of names.entries()) plainOf.set(name, others[index] ?? name);
  };
  learn(prefix, shownPrefix({ prefix, sealed }));
  learn(sealed.list.split('/', 1)[0] ?? '', sharedListFolder.slice(0, -1));
  for (const { stored, path } of files) learn(stored, path);
  const storedOf = new Map([...plainOf].map(([stored, plain]) => [plain, stored]));
  const mapped = (path: string, names: ReadonlyMap<string, string>) =>
    path
      .split('/')
      .map((name) => names.get(name) ?? name)
      .join('/');
  return {
    isSealing: true,
    seal: (path) => mapped(path, storedOf),
    open(path) {
      const isKnown = path.split('/').every((name) => name === '' || plainOf.has(name));
      const opened = { path: mapped(path, plainOf) };
      return isKnown ? opened : { ...opened, isPathAsStored: true };
    },
    openText: (text, paths) =>
      [...new Set(paths.flatMap((path) => path.split('/')))].reduce((said, name) => {
        const stored = storedOf.get(name);
        return stored === undefined ? said : said.replaceAll(stored, () => name);
      }, text),
  };
}
