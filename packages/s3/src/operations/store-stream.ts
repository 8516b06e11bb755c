// Stores a stream as an object, chunk by chunk in a session of the service. The object becomes
// visible only after all bytes have arrived and were verified.

import { createHash } from 'node:crypto';
import type { FileName, FileRecord } from '../../../client/src/types/files.ts';
import type { UploadSession } from '../../../client/src/types/transfers.ts';
import type { Body } from '../body/open-body.ts';
import { chunkSource } from '../chunk-source.ts';
import type { Description } from '../object-headers.ts';
import type { Operation } from '../operation.ts';
import { metadataOf, type OwnFacts } from '../stored-object.ts';
import { isEndToEnd } from './common.ts';
import type { WriteConditions } from './write-conditions.ts';

export interface StreamToStore {
  readonly target: FileName;
  readonly conditions: WriteConditions;
  readonly description: Description;
  readonly body: Body;
  /** Known facts about the bytes, for a bucket that is not end-to-end encrypted. */
  readonly facts?: ByteFacts | undefined;
}

type Storing = Pick<Operation, 'account' | 'signal' | 'concurrency' | 'memory'>;

/** Fails if the stream fails, and then stores nothing. */
export async function storeStream(storing: Storing, wanted: StreamToStore): Promise<FileRecord> {
  const { account, signal, concurrency, memory } = storing;
  const { target, conditions, description, body, facts: known } = wanted;
  const { contentType, headers, tags } = description;
  const { length: size } = body;
  const isSealed = await isEndToEnd(account, target.bucket);
  // The session has the age header even if the bucket has become end-to-end encrypted only now.
  const facts = () => {
    const isAge = isSealed || session?.ageHeader !== undefined;
    return factsOf(description, isAge ? { size } : (known ?? digestFacts(body)));
  };
  // Refuses too much metadata before anything is sent.
  factsOf(description, isSealed ? { size } : (known ?? longestFacts));
  let session: UploadSession | undefined;
  const source = chunkSource(body, memory, signal);
  try {
    return await account.storage.upload(source, {
      ...{ ...target, ...conditions, contentType, headers, tags, concurrency, signal },
      metadata: facts,
      onSession: (begun) => {
        session = begun;
      },
    });
  } catch (error) {
    if (session !== undefined) {
      const { uploadId } = session;
      // Not awaited, so that the client gets the error without delay.
      account.storage.uploads.cancel({ ...target, uploadId }).catch(() => {});
    }
    throw error;
  } finally {
    source.close();
  }
}

type ByteFacts = Pick<OwnFacts, 'etag' | 'size' | 'checksum' | 'partBytes' | 'partSums'>;

/** Returns the metadata of the record: the description's, and facts about the bytes. */
export function factsOf(
  { headers, expires, metadata }: Description,
  facts: ByteFacts,
): Record<string, string> {
  return metadataOf({ ...facts, headers, expires }, metadata);
}

/** Must be called after the last byte of the stream. */
export function digestFacts(body: Body): ByteFacts {
  const { md5, checksum } = body.digests();
  return {
    etag: Buffer.from(md5).toString('hex'),
    checksum: checksum && `${checksum.algorithm} ${checksum.value}`,
  };
}

/** Facts of the maximum length. */
const longestFacts: ByteFacts = {
  etag: '0'.repeat(32),
  checksum: `SHA512 ${'0'.repeat(88)}`,
};

/** Returns bytes read from the service as the body of a request. */
export function bodyOf(stream: AsyncIterable<Uint8Array>, length: number): Body {
  const md5 = createHash('md5');
  return {
    length,
    stream: hashed(stream, (piece) => md5.update(piece)),
    digests: () => ({ md5: md5.copy().digest() }),
  };
}

async function* hashed(
  stream: AsyncIterable<Uint8Array>,
  update: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    update(piece);
    yield piece;
  }
}
