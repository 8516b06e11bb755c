// Sends one file by tus 1.0.0 (https://tus.io/protocols/resumable-upload), in parts that the
// network accepts, each a slice that the browser reads from the disk. After a failure the service
// says how much has arrived. Gateways that answer OPTIONS themselves refuse tus to pages of other
// origins; there small files are sent by PUT, if the link's `putUrl` is known.

import { encodeBase64 } from '../../client/src/bytes/bytes.ts';
import { exchange, type HttpAnswer, type HttpPlace } from '../../client/src/http/exchange.ts';
import { filePath, isCrossOrigin } from '../../client/src/operations/url-paths.ts';
import { isStorageError, StorageError } from '../../client/src/storage-error.ts';
import { singleUploadBytesMax } from '../../wire/src/limits.ts';
import { fileAddress, type UploadPlace } from './addresses.ts';
import type { PartLength } from './part-length.ts';
import { connectionTo, persist, type Waiting } from './service.ts';
import { isUploadId, type RememberedUpload, rememberedUpload } from './unfinished-uploads.ts';

export interface Sending {
  readonly place: UploadPlace;
  readonly apiKey: string;
  readonly file: File;
  /** Name or path of the stored file, below the link's prefix. */
  readonly name: string;
}

export interface Watch extends Waiting {
  readonly partLength: PartLength;
  /** Receives the number of the file's bytes that have been sent. */
  onSent(bytes: number): void;
}

interface Opened extends Sending {
  readonly connection: HttpPlace;
  readonly memory: RememberedUpload;
}

type Transfer = Opened & Watch;

const version = { 'Tus-Resumable': '1.0.0' };

/** Returns the address of the stored file, if it is known. Throws StorageError. */
export async function sendFile(sending: Sending, watch: Watch): Promise<string | undefined> {
  const transfer = { ...(await transferOf(sending)), ...watch };
  try {
    return addressOf(transfer, await sendByTus(transfer));
  } catch (error) {
    const isRefused = isStorageError(error, 'Unsupported');
    if (!isRefused || !isPuttable(transfer)) throw error;
    await put(transfer);
    return addressOf(transfer);
  }
}

/** Frees the bytes of an upload that has not ended, as far as the service can be reached now. */
export async function discardUpload(sending: Sending): Promise<void> {
  const transfer = await transferOf(sending);
  const { connection, memory } = transfer;
  if (memory.id === undefined) return;
  memory.forget();
  const path = uploadPath(transfer, memory.id);
  const { signal } = new AbortController();
  const request = { method: 'DELETE', path, headers: version, signal };
  await exchange(connection, request).catch(() => undefined);
}

async function transferOf(sending: Sending): Promise<Opened> {
  const { place, apiKey, file, name } = sending;
  const { url, bucket, query } = place;
  const words = [url, bucket, query, name, file.size, file.lastModified];
  const memory = await rememberedUpload(words);
  return { ...sending, memory, connection: connectionTo(url, apiKey) };
}

function addressOf({ place, name }: Transfer, told?: string): string | undefined {
  const path = place.path(name);
  return path === undefined ? told : fileAddress(place.url, { bucket: place.bucket, path });
}

async function sendByTus(transfer: Transfer): Promise<string | undefined> {
  const { file, memory, onSent } = transfer;
  let told: string | undefined;
  const read = (answer: HttpAnswer) => {
    told ??= toldAddress(transfer, answer);
  };
  let id = memory.id;
  let offset = id === undefined ? undefined : await knownOffset(transfer, id);
  if (id === undefined || offset === undefined) {
    id = await create(transfer, read);
    offset = 0;
    if (file.size > 0) memory.remember(id);
  }
  for (onSent(offset); offset < file.size; onSent(offset)) {
    offset = await append(transfer, { id, offset, read });
  }
  memory.forget();
  return told;
}

/** Returns the id of the new upload. */
function create(transfer: Transfer, read: (answer: HttpAnswer) => void): Promise<string> {
  const { connection, place, file, signal } = transfer;
  return persist(async (attempt) => {
    const headers = {
      ...version,
      'Upload-Length': String(file.size),
      'Upload-Metadata': metadataOf(transfer),
    };
    const path = uploadPath(transfer);
    try {
      const answer = await exchange(connection, { method: 'POST', path, headers, signal });
      const id = /\/([^/?]+)(?:\?|$)/.exec(answer.headers.get('location') ?? '')?.[1];
      if (!isUploadId(id)) throw new StorageError('HttpError', 'The answer names no upload.');
      read(answer);
      return id;
    } catch (error) {
      // Two attempts, because a network that was lost for a moment fails in the same way
      const mayBeRefused = attempt > 1 && isStorageError(error, 'NetworkError');
      if (!mayBeRefused || !(await refusesForeignPages(place.url))) throw error;
      throw new StorageError(
        'Unsupported',
        `The gateway at ${place.url} lets pages of other origins send only files of up to ` +
          `${singleUploadBytesMax} bytes, by the putUrl of an upload link. Pass /api/v1/tus/ of ` +
          "the page's own server on to the service.",
      );
    }
  }, transfer);
}

/** Whether a simple request arrives where one with header fields of tus does not. */
async function refusesForeignPages(url: string): Promise<boolean> {
  if (!isCrossOrigin(url)) return false;
  const asked = fetch(`${url}/api/v1/status`, { mode: 'no-cors', cache: 'no-store' });
  return asked.then(
    () => true,
    () => false,
  );
}

function metadataOf({ place, apiKey, file, name }: Sending): string {
  const word = (text: string) => encodeBase64(new TextEncoder().encode(text));
  // A link adds its own prefix to the name.
  const [field, named] = apiKey === '' ? ['filename', name] : ['path', place.path(name) ?? name];
  const type = file.type === '' ? '' : `,filetype ${word(file.type)}`;
  return `${field} ${word(named)}${type}`;
}

function uploadPath({ place: { bucket, query } }: Sending, id?: string): string {
  return `/api/v1/tus/${bucket}${id === undefined ? '' : `/${id}`}${query}`;
}

interface Part {
  readonly id: string;
  readonly offset: number;
  read(answer: HttpAnswer): void;
}

/** Sends the bytes from `offset`, and returns the offset that follows. */
function append(transfer: Transfer, { id, offset, read }: Part): Promise<number> {
  const { connection, file, signal, onSent, partLength } = transfer;
  return persist(async (attempt) => {
    let start = offset;
    if (attempt > 1) {
      start = await askOffset(transfer, id);
      onSent(start);
      if (start > offset) return start;
    }
    const type = 'application/offset+octet-stream';
    const headers = { ...version, 'Upload-Offset': String(start), 'Content-Type': type };
    const body = file.slice(start, start + partLength.of(file.size));
    const startMs = performance.now();
    try {
      const answer = await exchange(connection, {
        ...{ method: 'PATCH', path: uploadPath(transfer, id), headers, body, signal },
        onSent: (bytes) => onSent(start + Math.min(bytes, body.size)),
      });
      read(answer);
      partLength.passed(performance.now() - startMs);
      return checkedOffset(answer, file.size, start + 1);
    } catch (error) {
      if (isStorageError(error, 'NetworkError', 'Timeout', 'HttpError')) partLength.failed();
      // The node that named the offset did not know the last part yet
      if (!isStorageError(error, 'OffsetMismatch')) throw error;
      throw new StorageError(error.code, error.message, { isRetryable: true, cause: error });
    }
  }, transfer);
}

/** Returns undefined if the upload has ended or never existed. */
async function knownOffset(transfer: Transfer, id: string): Promise<number | undefined> {
  try {
    return await persist(() => askOffset(transfer, id), transfer);
  } catch (error) {
    if (!isStorageError(error) || ![403, 404, 410].includes(error.status ?? 0)) throw error;
    transfer.memory.forget();
    return undefined;
  }
}

async function askOffset(transfer: Transfer, id: string): Promise<number> {
  const { connection, file, signal } = transfer;
  const path = uploadPath(transfer, id);
  const request = { method: 'HEAD', path, headers: version, signal };
  return checkedOffset(await exchange(connection, request), file.size, 0);
}

function checkedOffset({ headers }: HttpAnswer, size: number, least: number): number {
  const offset = Number(headers.get('upload-offset') ?? Number.NaN);
  if (offset >= least && offset <= size) return offset;
  throw new StorageError('HttpError', 'The answer does not say how much has arrived.', {
    isRetryable: true,
  });
}

/** Returns the address of the stored file, which only the answer to its last byte names. */
function toldAddress({ place }: Transfer, { headers }: HttpAnswer): string | undefined {
  const path = headers.get('content-location') ?? '';
  const start = `/cloud/${place.bucket}/`;
  return path.startsWith(start) ? new URL(path, place.url).href : undefined;
}

function isPuttable({ place, file, name }: Transfer): boolean {
  const isKnown = place.query !== '' && place.path(name) !== undefined;
  return isKnown && file.size <= singleUploadBytesMax;
}

/** An answer that was lost looks like a name that is taken: the file is stored already. */
async function put(transfer: Transfer): Promise<void> {
  const { connection, place, file, name, signal, onSent } = transfer;
  const path = filePath({ bucket: place.bucket, path: place.path(name) ?? name });
  const request = { method: 'PUT', path: path + place.query, body: file, signal, onSent };
  await persist(() => exchange(connection, request), transfer);
  onSent(file.size);
}
