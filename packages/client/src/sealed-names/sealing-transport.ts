// A transport with plain paths over one with sealed paths. All paths of the client pass through
// here.

import type {
  CopyRequest,
  Deletion,
  PrefixMove,
  Signal,
  Transport,
} from '../connection/transport.ts';
import { isStorageError, StorageError } from '../storage-error.ts';
import type { FileName } from '../types/files.ts';
import type { FolderOptions, FolderPage } from '../types/listings.ts';
import type { NamesOf, PathNames } from './bucket-names.ts';
import { deletePaths, putFiles } from './sealing-batches.ts';
import {
  byPath,
  found,
  inClear,
  inClearResult,
  sealed,
  sealedOptional,
  shown,
} from './shown-paths.ts';

/** Runs the work with the names of a bucket, and rewrites its errors with plain paths. */
type Using = <T>(place: Place, work: (names: PathNames) => Promise<T>) => Promise<T>;

interface Place {
  readonly bucket: string;
  readonly signal: Signal;
  /** Plain paths of the arguments. */
  readonly paths?: readonly string[];
  /** The operation stores a file under a path. */
  readonly isNaming?: boolean;
}

export function sealingTransport(transport: Transport, namesOf: NamesOf): Transport {
  const using: Using = async ({ bucket, signal, paths = [], isNaming = false }, work) => {
    const names = await namesOf(bucket, isNaming ? 'name' : 'find', signal);
    try {
      return await work(names);
    } catch (error) {
      throw isStorageError(error) ? inClear(names, error, paths) : error;
    }
  };
  // Not a spread of the transport: a method that is added to Transport must be listed here to
  // compile.
  return {
    ...passed(transport),
    ...uploads(transport, using),
    ...reads(transport, using),
    ...lists(transport, using),
    ...links(transport, using),
    ...removals(transport, using),
    ...changes(transport, using, namesOf),
  };
}

function placeOf({ bucket, path }: FileName, signal: Signal): Place {
  return { bucket, signal, paths: [path] };
}

/**
 * The part of a prefix that the service can match, since names are sealed whole; the rest is
 * matched here.
 */
function folderOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf('/') + 1);
}

function sealedFolder(names: PathNames, bucket: string, prefix: string): string {
  if (!names.isSealing || folderOf(prefix) === prefix) return names.seal(prefix);
  throw new StorageError(
    'InvalidArgument',
    `Bucket ${bucket} seals whole names, so the prefix "${prefix}" must end in a slash. Only lists ` +
      'accept a part of a name.',
  );
}

function sealedPrefix<T extends { readonly bucket: string; readonly prefix?: string | undefined }>(
  names: PathNames,
  told: T,
): T {
  const { bucket, prefix } = told;
  return prefix === undefined ? told : { ...told, prefix: sealedFolder(names, bucket, prefix) };
}

type Part<Name extends keyof Transport> = Pick<Transport, Name>;

/** The fields by which an argument of a transport's method names files. */
type PathField =
  | 'path'
  | 'paths'
  | 'prefix'
  | 'fromPrefix'
  | 'toPrefix'
  | 'from'
  | 'to'
  | 'files'
  | 'startAfter';

type PathFieldsOf<Argument> = Argument extends object ? Extract<keyof Argument, PathField> : never;

type ArgumentsOf<Member> = Member extends (...sent: infer Sent) => unknown ? Sent[number] : never;

/** The names of the transport's members that take no path. */
type NameWithoutPaths = {
  [Name in keyof Transport]: [PathFieldsOf<ArgumentsOf<Transport[Name]>>] extends [never]
    ? Name
    : never;
}[keyof Transport];

/** Members without paths, passed on unchanged; a member with paths does not compile here. */
function passed(transport: Part<NameWithoutPaths>) {
  const { wholeFileBytesMax, bodyMsMax, linkBase, readsByLinks, administration } = transport;
  const { getEndToEnd, removeLink, status } = transport;
  const { line, probe } = transport;
  const fixed = { line, probe, wholeFileBytesMax, bodyMsMax, linkBase, readsByLinks };
  return { ...fixed, administration, getEndToEnd, removeLink, status };
}

function uploads(
  transport: Transport,
  using: Using,
): Part<
  | 'putFile'
  | 'putFiles'
  | 'startUpload'
  | 'getUpload'
  | 'putChunk'
  | 'completeUpload'
  | 'cancelUpload'
  | 'listUploads'
> {
  return {
    putFile: (file, signal) =>
      using({ ...placeOf(file, signal), isNaming: true }, async (names) =>
        shown(names, await transport.putFile(sealed(names, file), signal)),
      ),
    putFiles: (batch, signal) =>
      using({ bucket: batch.bucket, signal, isNaming: true }, (names) =>
        putFiles(names, batch, (asked) => transport.putFiles(asked, signal)),
      ),
    startUpload: (request, signal) =>
      using({ ...placeOf(request, signal), isNaming: true }, async (names) =>
        shown(names, await transport.startUpload(sealed(names, request), signal)),
      ),
    getUpload: (name, signal) =>
      using(placeOf(name, signal), async (names) =>
        shown(names, await transport.getUpload(sealed(names, name), signal)),
      ),
    putChunk: (chunk, signal) =>
      using(placeOf(chunk, signal), async (names) =>
        transport.putChunk(sealed(names, chunk), signal),
      ),
    completeUpload: (told, signal) =>
      using(placeOf(told, signal), async (names) =>
        shown(names, await transport.completeUpload(sealed(names, told), signal)),
      ),
    cancelUpload: (name, signal) =>
      using(placeOf(name, signal), async (names) =>
        transport.cancelUpload(sealed(names, name), signal),
      ),
    listUploads: (bucket, signal) =>
      using({ bucket, signal }, async (names) =>
        (await transport.listUploads(bucket, signal)).map((session) => shown(names, session)),
      ),
  };
}

function reads(
  transport: Transport,
  using: Using,
): Part<'openFile' | 'readPart' | 'getFile' | 'usage'> {
  return {
    openFile: (file, options) =>
      using(placeOf(file, options.signal), async (names) =>
        transport.openFile(sealed(names, file), options),
      ),
    // A link has no path.
    readPart: (part, signal) =>
      part.linkPath === undefined
        ? using(placeOf(part, signal), async (names) =>
            transport.readPart(sealed(names, part), signal),
          )
        : transport.readPart(part, signal),
    getFile: (file, signal, version) =>
      using(placeOf(file, signal), async (names) =>
        shown(names, await transport.getFile(sealed(names, file), signal, version)),
      ),
    usage: ({ signal, ...wanted }) =>
      using({ bucket: wanted.bucket, signal }, async (names) =>
        transport.usage({ ...sealedPrefix(names, wanted), signal }),
      ),
  };
}

/** Keeps the entries of a page that begin with the prefix, in the order of plain names. */
function lists(
  transport: Transport,
  using: Using,
): Part<'listFiles' | 'listFolder' | 'listVersions'> {
  return {
    listFiles: ({ signal = undefined, ...request }) =>
      using({ bucket: request.bucket, signal }, async (names) => {
        const { prefix = '' } = request;
        const folder = names.isSealing ? names.seal(folderOf(prefix)) : request.prefix;
        const page = await transport.listFiles({ ...request, prefix: folder, signal });
        return { ...page, items: found(names, page.items, prefix) };
      }),
    listFolder: (request) =>
      using({ bucket: request.bucket, signal: request.signal }, async (names) =>
        listFolder(transport, names, request),
      ),
    listVersions: (request, signal) =>
      using({ bucket: request.bucket, signal }, async (names) => {
        const { prefix } = request;
        const isPart = names.isSealing && prefix !== undefined;
        const folder = isPart ? names.seal(folderOf(prefix)) : prefix;
        const asked = { ...sealedOptional(names, request), prefix: folder };
        const page = await transport.listVersions(asked, signal);
        const items = found(names, page.items, prefix ?? '');
        return { ...page, items: names.isSealing ? items.toSorted(byPath) : items };
      }),
  };
}

async function listFolder(
  transport: Transport,
  names: PathNames,
  request: FolderOptions,
): Promise<FolderPage> {
  const { bucket, prefix = '', sort, startAfter } = request;
  if (names.isSealing && startAfter !== undefined) {
    throw new StorageError(
      'InvalidArgument',
      `Bucket ${bucket} seals names, and its lists are in the order of the sealed names. Omit ` +
        'startAfter and continue by the cursor.',
    );
  }
  const folder = names.isSealing ? names.seal(folderOf(prefix)) : request.prefix;
  const page = await transport.listFolder({ ...request, prefix: folder });
  const items = found(names, page.items, prefix);
  const folders = found(names, page.folders, prefix);
  if (!names.isSealing) return { ...page, items, folders };
  const sign = sort === 'name_desc' ? -1 : 1;
  const inOrder = <T extends { readonly path: string }>(records: readonly T[]) =>
    records.toSorted((one, other) => sign * byPath(one, other));
  return { ...page, items: inOrder(items), folders: inOrder(folders) };
}

function links(transport: Transport, using: Using): Part<'createLink' | 'listLinks'> {
  return {
    createLink: (request) =>
      using(placeOf(request, request.signal), async (names) => {
        if (names.isSealing && request.downloadName !== undefined) {
          throw new StorageError(
            'InvalidArgument',
            `Bucket ${request.bucket} seals names, but the service would store the download name ` +
              'in plain text. Omit downloadName.',
          );
        }
        return transport.createLink(sealed(names, request));
      }),
    listLinks: (request) =>
      using({ bucket: request.bucket, signal: request.signal }, async (names) => {
        const page = await transport.listLinks(sealedOptional(names, request));
        const items = found(names, page.items, '');
        return { ...page, items: names.isSealing ? items.toSorted(byPath) : items };
      }),
  };
}

function removals(
  transport: Transport,
  using: Using,
): Part<'deleteFile' | 'deleteFiles' | 'eraseVersions'> {
  return {
    deleteFile: (file, signal, ifMatch) =>
      using(placeOf(file, signal), async (names) =>
        transport.deleteFile(sealed(names, file), signal, ifMatch),
      ),
    deleteFiles: ({ paths, ...deletion }, signal) =>
      using({ bucket: deletion.bucket, signal }, async (names) => {
        const send = (asked: Deletion) => transport.deleteFiles(asked, signal);
        if (paths !== undefined) return deletePaths(names, { ...deletion, paths }, send);
        const { results, nextCursor } = await send(sealedPrefix(names, deletion));
        return { results: results.map((result) => inClearResult(names, result)), nextCursor };
      }),
    eraseVersions: (erasure, signal) =>
      using({ bucket: erasure.bucket, signal }, async (names) =>
        transport.eraseVersions(sealedPrefix(names, sealedOptional(names, erasure)), signal),
      ),
  };
}

function changes(
  transport: Transport,
  using: Using,
  namesOf: NamesOf,
): Part<'copyFile' | 'moveFile' | 'moveFiles' | 'changeFile' | 'restoreVersion'> {
  const sendCopy = (kind: 'copyFile' | 'moveFile') => (request: CopyRequest, signal: Signal) =>
    using({ ...placeOfCopy(request, signal), isNaming: true }, async (names) => {
      const source = await namesOf(request.from.bucket, 'find', signal);
      const from: FileName = sealed(source, request.from);
      const asked = { ...request, from, to: sealed(names, request.to) };
      return shown(names, await transport[kind](asked, signal));
    });
  return {
    copyFile: sendCopy('copyFile'),
    moveFile: sendCopy('moveFile'),
    moveFiles: (move, signal) =>
      using({ bucket: move.bucket, signal, isNaming: true }, async (names) => {
        const answer = await transport.moveFiles(sealedMove(names, move), signal);
        return { ...answer, failed: answer.failed.map((file) => inClearResult(names, file)) };
      }),
    changeFile: (file, change) =>
      using(placeOf(file, change.signal), async (names) =>
        shown(names, await transport.changeFile(sealed(names, file), change)),
      ),
    restoreVersion: (restoration, signal) =>
      using(placeOf(restoration, signal), async (names) =>
        shown(names, await transport.restoreVersion(sealed(names, restoration), signal)),
      ),
  };
}

function placeOfCopy({ from, to }: CopyRequest, signal: Signal): Place {
  return { bucket: to.bucket, signal, paths: [from.path, to.path] };
}

function sealedMove(names: PathNames, { bucket, fromPrefix, toPrefix }: PrefixMove): PrefixMove {
  return {
    bucket,
    fromPrefix: sealedFolder(names, bucket, fromPrefix),
    toPrefix: sealedFolder(names, bucket, toPrefix),
  };
}
