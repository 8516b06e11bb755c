// Files of end-to-end buckets: encrypts uploads while they are read, and decrypts downloads while
// they arrive. Digests and entity tags are those of the stored, encrypted bytes.

import { decodeBase64Url, encodeBase64Url } from '../bytes/base64-url.ts';
import { bytesEqual } from '../bytes/bytes.ts';
import { requireSha256 } from '../bytes/digest.ts';
import { sha256 } from '../bytes/sha256.ts';
import { type OpenedSource, openSource, type UploadInput } from '../bytes/upload-source.ts';
import type { Connection } from '../connection/connection.ts';
import type { FileStorage } from '../files/file-storage.ts';
import { pictureBytes } from '../files/thumbnails.ts';
import { addressAtFront, ownPage } from '../links/front-link.ts';
import { linkEnd } from '../links/link-end.ts';
import { masked, passwordKeys } from '../links/link-password.ts';
import { linkOf, lockOf } from '../links/locked-link.ts';
import type { OpenedFile } from '../operations/transfers.ts';
import { StorageError } from '../storage-error.ts';
import type { CallOptions } from '../types/call-options.ts';
import type { EndToEndRecord } from '../types/end-to-end.ts';
import { ageType, type EndToEndOptions } from '../types/end-to-end.ts';
import type { FileName, FileRecord } from '../types/files.ts';
import type { LinkRequest, NewLink } from '../types/links.ts';
import { recipientsDigest } from '../types/recipients-digest.ts';
import type { PicturedFile, Thumbnail } from '../types/thumbnails.ts';
import type {
  Download,
  DownloadOptions,
  FileToUpload,
  Progress,
  UploadOptions,
} from '../types/transfers.ts';
import { BucketKeys, type EndToEndBucket, type Issuer } from './bucket-keys.ts';
import { type FileHeader, type HeaderOpener, headerEnd, headerOf, makeHeader } from './header.ts';
import { memoryIdentityStore } from './identity-store.ts';
import { linkFragment } from './linked-file.ts';
import { MadeHeaders } from './made-headers.ts';
import { FileOpener } from './opened-download.ts';
import { payloadNonceBytes, plainBytesWithin } from './payload.ts';
import { sealedSource } from './sealed-source.ts';
import { softwareSegmentCipher } from './segment-cipher.ts';
import { openThumbnails, sealThumbnail } from './thumbnails.ts';

export interface EndToEndFiles {
  readonly keys: BucketKeys;
  upload(input: UploadInput, options: UploadOptions, mode: EndToEndRecord): Promise<FileRecord>;
  /** Returns the file with a source that encrypts it, with a header of its own. */
  sealed(file: FileToUpload, bucket: EndToEndBucket): Promise<SealedUpload>;
  /** Remembers the header of a file that this client has uploaded, for its thumbnail. */
  noteStored(file: Pick<FileRecord, 'bucketId' | 'etag'>, header: FileHeader): void;
  putThumbnail(file: PicturedFile, order: PictureOrder, mode: EndToEndRecord): Promise<void>;
  /** Decrypts the thumbnails of the bucket's files; those that cannot be are absent. */
  openThumbnails(
    found: ReadonlyMap<string, Thumbnail>,
    bucket: EndToEndBucket,
  ): Promise<ReadonlyMap<string, Thumbnail>>;
  download(
    name: FileName,
    opened: { readonly file: OpenedFile; readonly options: DownloadOptions },
    mode: EndToEndRecord,
  ): Promise<Download>;
  /** Returns the link with the file's key in its fragment; if that fails, removes the link. */
  openingLink(request: LinkRequest, link: NewLink, mode: EndToEndRecord): Promise<NewLink>;
}

export interface SealedUpload {
  readonly file: FileToUpload;
  readonly header: FileHeader;
}

interface PictureOrder extends CallOptions {
  readonly picture: Blob | Uint8Array;
}

interface Surroundings {
  readonly files: FileStorage;
  readonly connection: Connection;
  readonly issuer: Issuer | undefined;
  readonly options: EndToEndOptions;
}

export function openEndToEnd(surroundings: Surroundings): EndToEndFiles {
  const { files, connection, issuer, options } = surroundings;
  const { identities = [], passphrases = [], store = memoryIdentityStore() } = options;
  const { cipher = softwareSegmentCipher } = options;
  const keys = new BucketKeys(connection, { identities, passphrases, store, issuer });
  const opener = new FileOpener(connection, keys, cipher);
  const made = new MadeHeaders();
  const { wholeFileBytesMax: wholeBytesMax } = connection.transport;
  const sealer = { files, keys, cipher, made, wholeBytesMax };
  return {
    keys,
    upload: (input, uploadOptions, mode) => upload(sealer, { input, options: uploadOptions, mode }),
    sealed: (file, bucket) => sealedFile(sealer, file, bucket),
    noteStored: ({ bucketId, etag }, header) => made.add(bucketId, etag, header),
    putThumbnail: (file, order, mode) => putThumbnail(sealer, file, { ...order, mode }),
    openThumbnails(found, bucket) {
      const opener = keys.opener(bucket);
      const openerOf = ({ etag }: Thumbnail) => openerWith(made.of(bucket.id, etag), opener);
      return openThumbnails(found, openerOf, cipher);
    },
    download: (name, opened, mode) => opener.download(name, opened, { id: name.bucket, mode }),
    async openingLink(request, link, mode) {
      const { bucket } = request;
      try {
        const fileKey = await opener.fileKeyOf(request, { id: bucket, mode });
        const sealedName = mode.sealsNames ? request.path.split('/').at(-1) : undefined;
        const fragment = linkFragment(fileKey);
        if (request.password !== undefined) {
          const key = await maskedKey(link, request.password, fragment);
          return { ...link, url: `${link.url}.${linkEnd(key, sealedName)}` };
        }
        const page = await ownPage(connection, link, request.signal);
        return { ...link, url: `${addressAtFront(link, page)}#${linkEnd(fragment, sealedName)}` };
      } catch (error) {
        await files.links.remove(bucket, link.id).catch(() => {});
        throw error;
      }
    },
  };
}

/** Masks the file's key, so that the address alone does not decrypt the file. */
async function maskedKey({ url }: NewLink, password: string, fragment: string): Promise<string> {
  const lock = lockOf(linkOf(new URL(url, 'https://volume.invalid')));
  const { mask } = await passwordKeys(password, lock?.salt ?? new Uint8Array(0));
  return masked(fragment, mask);
}

interface Sealer {
  readonly files: FileStorage;
  readonly keys: BucketKeys;
  readonly cipher: typeof softwareSegmentCipher;
  readonly made: MadeHeaders;
  readonly wholeBytesMax: number;
}

interface Upload {
  readonly input: UploadInput;
  readonly options: UploadOptions;
  readonly mode: EndToEndRecord;
}

async function upload(sealer: Sealer, { input, options, mode }: Upload): Promise<FileRecord> {
  const bucket = { id: options.bucket, mode };
  const { sha256: expected, onProgress, onSession } = options;
  const sealing = await sealer.keys.sealingOf(bucket);
  const recipients = 'recipients' in sealing ? sealing.recipients : [];
  const digest = await recipientsDigest({ ...mode, usesVetKeys: false, recipients });
  const resume = await continuedBy(sealer, options, digest);
  const header =
    resume === undefined ? await makeHeader(sealing) : await keptHeader(sealer, options, bucket);
  const plain = await openPlain(sealer, { ...options, source: input, sha256: expected });
  const source = await sealedSource(plain, header, sealer.cipher);
  const ageHeader = `${encodeBase64Url(header.prefix)}.${digest}`;
  const record = await sealer.files.upload(source as UploadInput, {
    ...options,
    resume,
    contentType: ageType,
    size: undefined,
    sha256: undefined,
    onProgress: onProgress && ((progress) => onProgress(plainProgress(progress, plain, header))),
    onSession: onSession && ((session) => onSession({ ...session, ageHeader })),
  });
  sealer.made.add(options.bucket, record.etag, header);
  return record;
}

/** A client that is still at work sends a chunk at least this often, unless its line fails. */
const chunkPauseMsMax = 120_000;

/**
 * Returns the id of the upload to resume. Does not resume an upload that was encrypted to other
 * recipients, because someone who has lost the right to the bucket could decrypt it; cancels it
 * unless another client may still be sending its chunks.
 */
async function continuedBy(
  { files: { uploads } }: Sealer,
  { resume, ageHeader, bucket, path, signal }: UploadOptions,
  digest: string,
): Promise<string | undefined> {
  if (resume === undefined || ageHeader === undefined) return resume;
  if (ageHeader.split('.')[1] === digest) return resume;
  const session = { bucket, path, uploadId: resume, signal };
  try {
    const { updatedAt } = await uploads.status(session);
    if (Date.now() - Date.parse(updatedAt) > chunkPauseMsMax) await uploads.cancel(session);
  } catch {
    // An unused session expires.
  }
  return undefined;
}

/** Returns the header of an interrupted upload: the same key and nonce give the same bytes. */
async function keptHeader(
  { keys }: Sealer,
  { resume, ageHeader = '' }: UploadOptions,
  bucket: EndToEndBucket,
): Promise<FileHeader> {
  const prefix = decodeBase64Url(ageHeader.split('.')[0] ?? '');
  if (prefix === undefined || prefix.length <= payloadNonceBytes) {
    const words = `Resuming upload ${resume} requires its ageHeader; pass it, or begin a new upload.`;
    throw new StorageError('InvalidArgument', words);
  }
  const header = prefix.subarray(0, headerEnd(prefix));
  return { prefix, fileKey: await keys.fileKeyOf(bucket, header) };
}

interface PlainInput {
  readonly source: UploadInput;
  readonly size?: number | undefined;
  readonly sha256?: string | undefined;
}

/** The service's limit for `sha256`; here the client checks the digest, before encryption. */
const checkedBytesMax = 19_000_000;

async function openPlain(
  { wholeBytesMax: bufferedBytesMax }: Sealer,
  { source: input, size, sha256: expected }: PlainInput,
): Promise<OpenedSource> {
  const source = await openSource(input, { size, bufferedBytesMax });
  if (expected === undefined) return source;
  if (source.size === undefined || source.size > checkedBytesMax) {
    const words = `In an end-to-end bucket, sha256 requires a known size of at most ${checkedBytesMax} bytes.`;
    throw new StorageError('InvalidArgument', words);
  }
  const bytes = source.size === 0 ? new Uint8Array(0) : await source.slice(0, source.size);
  requireSha256(expected, await sha256(bytes));
  return { size: bytes.length, slice: async (start, end) => bytes.subarray(start, end) };
}

/** Converts progress to plaintext bytes. */
function plainProgress(progress: Progress, plain: OpenedSource, header: FileHeader): Progress {
  const within = (bytes: number) => plainBytesWithin(bytes - header.prefix.length);
  return {
    doneBytes: within(progress.doneBytes),
    movedBytes: within(progress.movedBytes),
    totalBytes: plain.size,
    resumedBytes: within(progress.resumedBytes),
  };
}

async function sealedFile(
  sealer: Sealer,
  file: FileToUpload,
  bucket: EndToEndBucket,
): Promise<SealedUpload> {
  const plain = await openPlain(sealer, file);
  const header = await makeHeader(await sealer.keys.sealingOf(bucket));
  const source = (await sealedSource(plain, header, sealer.cipher)) as UploadInput;
  const sealed = { source, size: undefined, sha256: undefined, contentType: ageType };
  return { file: { ...file, ...sealed }, header };
}

interface PictureUpload extends PictureOrder {
  readonly mode: EndToEndRecord;
}

/**
 * Encrypts the picture with the key of the file if this client has uploaded the file. Any other
 * picture gets a key of its own, for the bucket's recipients.
 */
async function putThumbnail(
  { files, keys, cipher, made }: Sealer,
  file: PicturedFile,
  { picture, mode, signal }: PictureUpload,
): Promise<void> {
  const { bucket: id, etag } = file;
  const header = made.of(id, etag) ?? (await makeHeader(await keys.sealingOf({ id, mode })));
  const sealed = await sealThumbnail(await pictureBytes(picture), header, cipher);
  await files.thumbnails.put(file, sealed, { signal });
}

/** Returns an opener that knows one header, so that it is not unwrapped again. */
function openerWith(known: FileHeader | undefined, opener: HeaderOpener): HeaderOpener {
  if (known === undefined) return opener;
  return async (header) => (bytesEqual(header, headerOf(known)) ? known.fileKey : opener(header));
}
