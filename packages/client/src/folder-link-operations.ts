// Creates, refreshes and removes links to folders.
//
// In an end-to-end bucket, the list of file keys is stored before the API key is created, and the
// key is revoked before the list is deleted. So a program that is killed leaves at most a list
// without a key. Its id follows from the link's secret, and the key's name ends with it: so later
// calls find lists without a key, and the network's answer about keys also confirms the secret.

import { manage } from './administration/buckets-and-keys.ts';
import type { FolderKeyReader, FolderPlace } from './age/folder-keys.ts';
import { encodeHex } from './bytes/bytes.ts';
import { sha256 } from './bytes/sha256.ts';
import type { Connection } from './connection/connection.ts';
import { onDemand } from './connection/on-demand.ts';
import type { Signal } from './connection/transport.ts';
import type { SealingParts } from './end-to-end.ts';
import {
  type FolderSecret,
  folderAddressOf,
  folderUrl,
  sharedListFolder,
} from './links/folder-address.ts';
import { pageOf } from './links/front-link.ts';
import { isStorageError, StorageError } from './storage-error.ts';
import type { EndToEndRecord } from './types/end-to-end.ts';
import type { FileName } from './types/files.ts';
import type {
  FolderLinkRequest,
  FolderLinks,
  FolderRefreshOptions,
  NewFolderLink,
  SharedKeys,
} from './types/folder-links.ts';
import type { KeyRecord, NewKey } from './types/keys.ts';

const keyNameLengthMax = 64;
/** A list that has no key for this time was left over: its key is created seconds later. */
const leftOverMs = 3_600_000;
const listPattern = /^\.efs-shared\/([\w-]{16})\.age$/;
const keyNamePattern = / ([\w-]{16})$/;

const forKeys = onDemand(() => import('./age/folder-keys.ts'));
const forLists = onDemand(() => import('./age/folder-list.ts'));

export function openFolderLinks(
  connection: Connection,
  parts: SealingParts | undefined,
): FolderLinks {
  return {
    async create(request) {
      requireValid(request);
      const { bucket, signal } = request;
      const mode = await parts?.mode(bucket, signal);
      if (parts !== undefined && mode !== undefined) {
        return createSealed({ connection, parts }, request, mode);
      }
      const name = request.name ?? defaultName(request, keyNameLengthMax);
      const key = await createReadKey(connection, { ...request, name });
      return linkOf(connection, key, request);
    },
    async refresh(url, options = {}) {
      if (parts !== undefined) return refreshSealed({ connection, parts }, url, options);
      throw ordinary('The bucket');
    },
    async remove(bucket, id, { signal } = {}) {
      const key = (await anyKeysOf(connection, bucket)).find((one) => one.id === id);
      if (key !== undefined && !isOfLink(key)) {
        const words = `The key ${id} is not a link to a folder; revoke it by keys.revoke().`;
        throw new StorageError('InvalidArgument', words);
      }
      await manage(connection, 'revokeKey', id);
      // The link has ended: a list that stays is removed by a later call
      if (key !== undefined && parts !== undefined) {
        await removeListOf({ connection, parts }, { bucket, key, signal }).catch(() => {});
      }
    },
  };
}

function requireValid({ prefix, expiresAt }: FolderLinkRequest): void {
  if (!/^(?:[^/]+\/)*$/.test(prefix)) {
    const shown = JSON.stringify(prefix);
    const words = `prefix is ${shown}; it must be a folder such as trip/, or '' for the whole bucket.`;
    throw new StorageError('InvalidArgument', words);
  }
  if (!Number.isNaN(expiresAt?.getTime())) return;
  throw new StorageError('InvalidArgument', 'expiresAt is not a valid date.');
}

function defaultName({ bucket, prefix }: FolderLinkRequest, lengthMax: number): string {
  // Without half of a character at the end
  return `Link to ${prefix || bucket}`.slice(0, lengthMax).replace(/\p{Cs}$/u, '');
}

/** Signed by the network: a node that omits a key must not cause the deletion of its list. */
function keysOf(connection: Connection, bucket: string): Promise<readonly KeyRecord[]> {
  return manage(connection, 'listSignedKeys', bucket);
}

/** Without a signature at services before 0.3.0, which answer only queries about keys. */
async function anyKeysOf(connection: Connection, bucket: string): Promise<readonly KeyRecord[]> {
  try {
    return await keysOf(connection, bucket);
  } catch (error) {
    if (!isStorageError(error, 'Unsupported')) throw error;
    return manage(connection, 'listKeys', bucket);
  }
}

function createReadKey(
  connection: Connection,
  { bucket, prefix, name, expiresAt }: FolderLinkRequest & { readonly name: string },
): Promise<NewKey> {
  const buckets = [bucket];
  const request = { name, buckets, permissions: ['read'] as const, expiresAt };
  return manage(connection, 'createKey', { ...request, prefix: prefix || undefined });
}

/** Whether the key may do no more than that of a link. */
function isOfLink({ permissions, buckets }: KeyRecord): boolean {
  return buckets.length === 1 && String(permissions) === 'read';
}

/** `prefix`: as the service stores it. */
function linkOf(
  { transport }: Connection,
  key: NewKey,
  { bucket, prefix, sealed }: { bucket: string; prefix: string; sealed?: FolderSecret },
): NewFolderLink {
  const { id, secret, expiresAt } = key;
  const page = pageOf(key);
  const [, front = transport.linkBase, volume] = /^(.*)\/s\/([a-z0-9-]+)$/.exec(page ?? '') ?? [];
  return { id, url: folderUrl(front, { key: secret, bucket, volume, sealed, prefix }), expiresAt };
}

interface Maker {
  readonly connection: Connection;
  readonly parts: SealingParts;
}

async function readerOf({
  files,
  connection,
  keys,
  cipher,
}: SealingParts): Promise<FolderKeyReader> {
  return { files, connection, keys: await keys(), cipher };
}

async function createSealed(
  maker: Maker,
  request: FolderLinkRequest,
  mode: EndToEndRecord,
): Promise<NewFolderLink> {
  const { connection, parts } = maker;
  const { bucket, prefix, signal, onProgress } = request;
  const { newFolderSecret, listIdOfSecret } = await forLists();
  const secret = newFolderSecret();
  const listId = await listIdOfSecret(secret);
  const name = keyName(request, mode, listId);
  const names = await parts.names(bucket, 'name', signal);
  const place = { bucket: { id: bucket, mode }, names, prefix, signal };
  const reader = await readerOf(parts);
  const { readFolderKeys, storeFolderList } = await forKeys();
  const { files, unreadable } = await readFolderKeys(reader, { ...place, onProgress });
  const storedPrefix = names.seal(prefix);
  const list = names.seal(listPath(listId));
  let key: NewKey | undefined;
  try {
    await storeFolderList(reader, place, {
      path: prefix + listPath(listId),
      storedPrefix,
      secret,
      files,
    });
    key = await createReadKey(connection, { ...request, prefix: storedPrefix, name });
    const plainName = names.isSealing ? prefix.split('/').at(-2) : undefined;
    const sealed = { secret, list, name: plainName };
    const link = linkOf(connection, key, { bucket, prefix: storedPrefix, sealed });
    await removeLeftOver(maker, place).catch(() => {});
    return { ...link, keys: { fileCount: files.length, unreadable } };
  } catch (error) {
    await withdraw(maker, place, { listId, key });
    throw error;
  }
}

function listPath(listId: string): string {
  return `${sharedListFolder}${listId}.age`;
}

/** Without a name from the caller, the service does not learn the sealed name of the folder. */
function keyName(request: FolderLinkRequest, mode: EndToEndRecord, listId: string): string {
  const lengthMax = keyNameLengthMax - listId.length - 1;
  const { name = mode.sealsNames ? 'Link to a folder' : defaultName(request, lengthMax) } = request;
  if (name.length <= lengthMax) return `${name} ${listId}`;
  const words = `The name has ${name.length} characters; in an end-to-end bucket it has at most ${lengthMax}.`;
  throw new StorageError('InvalidArgument', words);
}

/** Undoes what a failed creation has done; the reply with the key may have been lost. */
async function withdraw(
  { connection, parts }: Maker,
  place: FolderPlace,
  { listId, key }: { readonly listId: string; readonly key: NewKey | undefined },
): Promise<void> {
  const keys = key === undefined ? anyKeysOf(connection, place.bucket.id) : [key];
  for (const { id, name } of await Promise.resolve(keys).catch(() => [])) {
    if (!name.endsWith(` ${listId}`)) continue;
    await manage(connection, 'revokeKey', id).catch(() => {});
  }
  await removeList(parts, { ...place, signal: undefined }, listId).catch(() => {});
}

interface EndedLink {
  readonly bucket: string;
  readonly key: KeyRecord;
  readonly signal: Signal;
}

async function removeListOf(
  { connection, parts }: Maker,
  { bucket, key, signal }: EndedLink,
): Promise<void> {
  const listId = keyNamePattern.exec(key.name)?.[1];
  const mode = listId && (await parts.mode(bucket, signal));
  if (!mode) return;
  const names = await parts.names(bucket, 'find', signal);
  const prefix = names.open(key.prefix ?? '').path;
  const place = { bucket: { id: bucket, mode }, names, prefix, signal };
  await removeList(parts, place, listId);
  await removeLeftOver({ connection, parts }, place);
}

async function removeList(
  { files }: SealingParts,
  { bucket, prefix, signal }: FolderPlace,
  listId: string,
): Promise<void> {
  try {
    await files.remove({ bucket: bucket.id, path: prefix + listPath(listId) }, { signal });
  } catch (error) {
    if (!isStorageError(error, 'NoSuchFile')) throw error;
  }
}

/** Deletes the lists that belong to no key: of links that expired, or that were not completed. */
async function removeLeftOver({ connection, parts }: Maker, place: FolderPlace): Promise<void> {
  const { bucket, prefix, signal } = place;
  const old: string[] = [];
  const lists = { bucket: bucket.id, prefix: prefix + sharedListFolder, signal };
  for await (const { path, updatedAt } of parts.files.list(lists)) {
    const [, listId] = listPattern.exec(path.slice(prefix.length)) ?? [];
    const ageMs = Date.now() - Date.parse(updatedAt);
    if (listId !== undefined && ageMs > leftOverMs) old.push(listId);
  }
  if (old.length === 0) return;
  const keys = await keysOf(connection, bucket.id);
  const used = new Set(keys.map(({ name }) => keyNamePattern.exec(name)?.[1]));
  for (const listId of old) if (!used.has(listId)) await removeList(parts, place, listId);
}

function ordinary(what: string): StorageError {
  const words = `${what} is not end-to-end, so its links show the present files without a refresh.`;
  return new StorageError('InvalidArgument', words);
}

/**
 * Refuses an address whose key, folder, list and secret do not belong together: whoever sends an
 * address to a member must not choose the secret to which the member encrypts the files' keys.
 */
async function refreshSealed(
  maker: Maker,
  url: string,
  { signal, onProgress }: FolderRefreshOptions,
): Promise<SharedKeys> {
  const { connection, parts } = maker;
  const address = folderAddressOf(URL.canParse(url) ? new URL(url).hash : '');
  const { bucket, sealed, prefix: storedPrefix } = address;
  const mode = await parts.mode(bucket, signal);
  if (mode === undefined) throw ordinary(`Bucket ${bucket}`);
  if (sealed === undefined) {
    const words = `Bucket ${bucket} is end-to-end, but the address has no secret: use the complete one.`;
    throw new StorageError('InvalidArgument', words);
  }
  const { listIdOfSecret } = await forLists();
  const names = await parts.names(bucket, 'name', signal);
  const [, listId] = listPattern.exec(names.open(sealed.list).path) ?? [];
  const digest = await sha256(new TextEncoder().encode(address.key));
  const id = encodeHex(digest.subarray(0, 8));
  const keys = await keysOf(connection, bucket);
  const key = keys.find((one) => one.id === id);
  const isOwn = key !== undefined && (key.prefix ?? '') === storedPrefix && isOfLink(key);
  const isOfKey = listId !== undefined && isOwn && key.name.endsWith(` ${listId}`);
  if (!isOfKey || (await listIdOfSecret(sealed.secret)) !== listId) {
    const words = 'The link does not exist, has expired, or was removed: create a new one.';
    throw new StorageError('NoSuchFile', words);
  }
  const prefix = names.open(storedPrefix).path;
  const path = prefix + listPath(listId);
  const etag = await etagOf(parts, { bucket, path }, signal);
  const place = { bucket: { id: bucket, mode }, names, prefix, signal };
  const reader = await readerOf(parts);
  const { readFolderKeys, storeFolderList } = await forKeys();
  const { files, unreadable } = await readFolderKeys(reader, { ...place, onProgress });
  const { secret } = sealed;
  await storeFolderList(reader, place, { path, storedPrefix, secret, files, etag });
  await removeLeftOver(maker, place).catch(() => {});
  return { fileCount: files.length, unreadable };
}

/** Returns undefined if the list was moved or deleted: then a new one is stored. */
async function etagOf(
  { files }: SealingParts,
  name: FileName,
  signal: Signal,
): Promise<string | undefined> {
  try {
    return (await files.stat(name, { signal })).etag;
  } catch (error) {
    if (!isStorageError(error, 'NoSuchFile')) throw error;
    return undefined;
  }
}
