// Headers and keys of the files that this client has uploaded. Only for these it knows that nobody
// else made the key: a header that a node returns could have a key that the node knows, so nothing
// is ever encrypted with it.

import { type FileHeader, headerOf } from './header.ts';

/** More than 5,000 headers with one recipient. */
const keptBytesMax = 2_000_000;
/** The key, the tag and the entry. */
const restBytes = 200;

export class MadeHeaders {
  readonly #headers = new Map<string, FileHeader>();
  #bytes = 0;

  /** Keeps the header of a stored file, in place of the oldest ones. */
  add(bucket: string, etag: string, header: FileHeader): void {
    const name = nameOf(bucket, etag);
    this.#remove(name);
    this.#headers.set(name, header);
    this.#bytes += bytesOf(header);
    for (const oldest of this.#headers.keys()) {
      if (this.#bytes <= keptBytesMax) break;
      this.#remove(oldest);
    }
  }

  /** `etag`: of the encrypted bytes, so no other file has it, and copies do. */
  of(bucket: string, etag: string): FileHeader | undefined {
    return this.#headers.get(nameOf(bucket, etag));
  }

  #remove(name: string): void {
    const header = this.#headers.get(name);
    if (header !== undefined) this.#bytes -= bytesOf(header);
    this.#headers.delete(name);
  }
}

function nameOf(bucket: string, etag: string): string {
  return `${bucket}/${etag}`;
}

function bytesOf(header: FileHeader): number {
  return headerOf(header).length + restBytes;
}
