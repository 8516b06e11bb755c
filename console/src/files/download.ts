// Downloads to this machine: a single file through a temporary link that the browser fetches by
// itself, whatever the size, and several files as a zip that is built while their bytes arrive.

import type { Storage } from '../../../packages/client/src/storage.ts';
import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { FileVersion } from '../../../packages/client/src/types/versions.ts';
import { sentenceOf } from '../failures.ts';
import { texts } from '../language.ts';
import { tell } from '../notices.ts';
import type { Session } from '../session.ts';
import { nameOf } from '../words.ts';
import type { Entry } from './folder.ts';
import { blobOf, isNotOpened, isSealed, openSealed, storedName } from './sealed.ts';
import type { LeftOut, ZipSource } from './zip.ts';

interface Place {
  readonly storage: Storage;
  readonly bucket: string;
}

const linkMs = 60 * 60_000;

/** Ids of the page's own links, which the list of a file's links does not show. */
const ownLinks = new Set<string>();

export function isOwnLink(id: string): boolean {
  return ownLinks.has(id);
}

export interface OpenedAddress {
  /** An address at the volume's gateway. */
  readonly address: string;
  /** Deletes the link; called when no view uses it any more. */
  close(): void;
}

/** Creates a link that opens the file for at most an hour. */
export async function openAddress(
  { storage, bucket }: Place,
  path: string,
  downloadName?: string,
): Promise<OpenedAddress> {
  const expiresAt = new Date(Date.now() + linkMs);
  const { id, url } = await storage.links.create({ bucket, path, expiresAt, downloadName });
  ownLinks.add(id);
  return {
    address: url,
    // If this request fails, the link expires.
    close: () => void storage.links.remove(bucket, id).catch(() => {}),
  };
}

function save(address: string, name: string): void {
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = name;
  anchor.click();
}

/** Downloads a file. If this page cannot decrypt it, saves the ciphertext, which age decrypts. */
export async function downloadOne(session: Session, file: FileRecord): Promise<void> {
  const { bucketId: bucket, path } = file;
  const name = nameOf(path);
  let place = { storage: session.storage, bucket };
  let savedAs = name;
  if (isSealed(file)) {
    try {
      return saveBlob(await openSealed(session, file), name);
    } catch (error) {
      if (!isNotOpened(error)) throw error;
      tell(sentenceOf(error));
      place = { storage: session.stored, bucket };
      savedAs = storedName(name);
    }
  }
  // The browser may still be downloading when the view closes, so the link is left to expire.
  save((await openAddress(place, path, savedAs)).address, savedAs);
}

/**
 * Downloads a former version under a name with its number. Links only open current files, so the
 * bytes come through this page.
 */
export async function downloadVersion(
  session: Session,
  bucket: string,
  former: FileVersion,
): Promise<void> {
  const { path, version } = former;
  const name = versionName(nameOf(path), version);
  if (isSealed(former)) {
    try {
      return saveBlob(await openSealed(session, { bucketId: bucket, path }, version), name);
    } catch (error) {
      if (!isNotOpened(error)) throw error;
      tell(sentenceOf(error));
      const stored = await session.stored.download({ bucket, path }, { version });
      return saveBlob(await blobOf(stored), storedName(name));
    }
  }
  // Browsers show the dialog only in response to a click, so it comes before any await.
  const target = await pickTarget(name);
  const download = await session.storage.download({ bucket, path }, { version });
  if (target === undefined) return saveBlob(await blobOf(download), name);
  await download.body.pipeTo(await target.createWritable());
}

/** Returns `letter (version 3).txt`. */
function versionName(name: string, version: number): string {
  const dot = name.lastIndexOf('.');
  const end = dot > 0 ? dot : name.length;
  return `${name.slice(0, end)} ${texts().versions.fileName(version)}${name.slice(end)}`;
}

export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  save(address, name);
  setTimeout(() => URL.revokeObjectURL(address), linkMs);
}

interface FilePicker {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
}

/** Asks the user for a target file, in browsers that let pages write to the disk. */
function pickTarget(suggestedName: string): Promise<FileSystemFileHandle> | undefined {
  return (globalThis as FilePicker).showSaveFilePicker?.({ suggestedName });
}

export interface ZipProgress {
  readonly bytes: number;
  /** The bytes of all files; undefined until it is known, or if the names are encrypted. */
  readonly bytesTotal: number | undefined;
}

interface ZipDownload {
  readonly source: ZipSource;
  readonly entries: readonly Entry[];
  readonly zipName: string;
  readonly signal: AbortSignal;
  /** Not called after the signal is aborted. */
  onProgress(progress: ZipProgress): void;
}

/**
 * Downloads entries as a zip, directly to the disk in browsers that let pages write there. Rejects
 * with an AbortError if the signal is aborted or the user closes the browser's dialog.
 */
export async function downloadZip(download: ZipDownload): Promise<void> {
  const { source, entries, zipName, signal, onProgress } = download;
  const target = await pickTarget(zipName);
  const { sizeOfEntries, zipOf } = await import('./zip.ts');
  let progress: ZipProgress = { bytes: 0, bytesTotal: undefined };
  const report = (change: Partial<ZipProgress>) => {
    // Files that were being read end after the download.
    if (signal.aborted) return;
    progress = { ...progress, ...change };
    onProgress(progress);
  };
  // Without the total, the progress shows the bytes only.
  sizeOfEntries(source, entries).then(
    (bytesTotal) => report({ bytesTotal }),
    () => {},
  );
  const onBytes = (byteCount: number) => report({ bytes: progress.bytes + byteCount });
  const leftOut = { later: 0, name: 0 };
  const onLeftOut = (reason: LeftOut) => void leftOut[reason]++;
  const { body } = zipOf({ ...source, onBytes, onLeftOut }, entries);
  if (target !== undefined) await body?.pipeTo(await target.createWritable(), { signal });
  else {
    const stopped = body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), { signal });
    saveBlob(await new Response(stopped).blob(), zipName);
  }
  const { later, unsafe } = texts().leftOut;
  if (leftOut.later > 0) tell(later(leftOut.later), { isFailure: true });
  if (leftOut.name > 0) tell(unsafe(leftOut.name), { isFailure: true });
}
