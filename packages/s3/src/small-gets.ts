// Reads small objects that are requested at about the same time by one query, because an object of
// its own takes two queries, and on the network as long as two hundred.
//
// One node answers the query, and could invent the bytes of all objects together with their entity
// tags. The library compares the bytes of each object with the tag in the same answer, and
// GetObject compares that tag with the one of the record, which another query has read; so one
// node that lies must answer both. The bytes of an object alone are compared in the same way. Over
// HTTP, gateways verify public files that are read alone, so nothing is gathered there.

import { sharedFileBytesMax } from '../../client/src/downloads/download-all.ts';
import type { FileRecord } from '../../client/src/types/files.ts';
import type { Download } from '../../client/src/types/transfers.ts';
import type { Account } from './account.ts';
import { GatheredReads, type PendingReads, type ReadPlace } from './gathered-reads.ts';
import type { Semaphore } from './semaphore.ts';

interface SmallObject {
  /** The entity tag of the file. */
  readonly etag: string;
  /** Verified and decrypted bytes; undefined if the file has grown. */
  readonly bytes: Uint8Array | undefined;
}

export class SmallGets {
  readonly #reads: GatheredReads<SmallObject>;

  /** `receiving` limits the answers in memory. */
  constructor(receiving: Semaphore) {
    this.#reads = new GatheredReads(async (place, reads) => {
      const leave = await receiving.enter(new AbortController().signal);
      await readAll(place, reads).finally(leave);
    });
  }

  isGathered({ secrets }: Account, { size }: FileRecord): boolean {
    return size <= sharedFileBytesMax && !secrets.readsOverHttp;
  }

  /** Returns the bytes of the record's file, or undefined if it was replaced. */
  async get(account: Account, record: FileRecord): Promise<Uint8Array | undefined> {
    const { bucketId: bucket, path, size } = record;
    const { etag, bytes } = await this.#reads.read({ account, bucket }, path, size);
    return etag === record.etag ? bytes : undefined;
  }
}

async function readAll(
  { account, bucket }: ReadPlace,
  reads: PendingReads<SmallObject>,
): Promise<void> {
  const files = [...reads].map(([path, { size }]) => ({ path, size }));
  for await (const { path, download, error } of account.storage.downloadAll(files, { bucket })) {
    const read = reads.get(path);
    if (error === undefined) read?.resolve(smallObjectOf(download));
    else read?.reject(error);
  }
  await Promise.allSettled([...reads.values()].map(({ found }) => found));
}

async function smallObjectOf(download: Download): Promise<SmallObject> {
  const { etag, size } = download;
  if (size <= sharedFileBytesMax) return { etag, bytes: await download.bytes() };
  await download.body.cancel();
  return { etag, bytes: undefined };
}
