// Secrets of an end-to-end bucket for the `efs` command, the S3 server and the console: its
// identities, its recipient, and the comparison of a local file with a stored one.

import { BucketKeys, type EndToEndBucket } from './age/bucket-keys.ts';
import { memoryIdentityStore } from './age/identity-store.ts';
import { type FilePrefix, readPrefix } from './age/opened-file.ts';
import { mayBeOf, payloadNonceBytes, plainBytesOf, sealedBytesOf } from './age/payload.ts';
import { sealedSource } from './age/sealed-source.ts';
import { softwareSegmentCipher } from './age/segment-cipher.ts';
import { BucketModes } from './bucket-modes.ts';
import { concatBytes } from './bytes/bytes.ts';
import type { OpenedSource, UploadSource } from './bytes/upload-source.ts';
import { type Connection, perform } from './connection/connection.ts';
import { connectionOver } from './http-storage.ts';
import { namesOf } from './sealed-names/bucket-names.ts';
import { sealingTransport } from './sealed-names/sealing-transport.ts';
import { issuerOf, type StorageOptions, transportOf } from './storage.ts';
import { isStorageError, StorageError } from './storage-error.ts';
import type { BucketEpoch, EndToEndOptions, EndToEndRecord } from './types/end-to-end.ts';
import type { FileRecord } from './types/files.ts';

/** A caller who may not ask whether a bucket stores versions asks again after this time. */
const refusedKnownMs = 10_000;

export interface EpochIdentity extends BucketEpoch {
  /** `AGE-SECRET-KEY-1…`. */
  readonly identity: string;
  readonly recipient: string;
}

/** The fields of a record by which the header of an age file is found. */
type SealedFile = Pick<
  FileRecord,
  'bucketId' | 'path' | 'size' | 'etag' | 'contentType' | 'version'
>;

export interface BucketSecrets {
  /** Returns the mode for writing, signed by the network; throws Untrusted as an upload does. */
  mode(bucket: string): Promise<EndToEndRecord | undefined>;
  /** Returns the mode for reading; undefined if not end-to-end, or if the caller may not ask. */
  readerMode(bucket: string): Promise<EndToEndRecord | undefined>;
  /** Returns whether the bucket stores former versions; false over HTTP, where it is unknown. */
  keepsVersions(bucket: string): Promise<boolean>;
  /** Whether files are read over HTTP, where gateways verify public files. */
  readonly readsOverHttp: boolean;
  /** Drops the cached mode of the bucket. */
  forget(bucket: string): void;
  /**
   * Returns the verified identities, newest last; the network derives those that the store lacks.
   */
  identities(bucket: string): Promise<EpochIdentity[]>;
  /**
   * Returns the newest identity (of `record`, if given); for an owner, publishes a missing
   * recipient.
   */
  identity(bucket: string, record?: EndToEndRecord): Promise<EpochIdentity>;
  /** Returns the plaintext size of a stored age file, from its header; needs no secret. */
  plainSize(record: SealedFile, version?: number | undefined): Promise<number>;
  /**
   * Encrypts the source with the key of the stored file, so that equal contents give an equal
   * digest. Returns undefined if the sizes differ or no identity opens the file.
   */
  sealedAs(record: SealedFile, source: UploadSource): Promise<OpenedSource | undefined>;
}

export function bucketSecrets(options: StorageOptions, settings: EndToEndOptions): BucketSecrets {
  const outer = connectionOver(transportOf(options), options);
  const { identities = [], passphrases = [], store = memoryIdentityStore() } = settings;
  const { cipher = softwareSegmentCipher } = settings;
  const issuer = issuerOf(options);
  const keys = new BucketKeys(outer, { identities, passphrases, store, issuer });
  const modes = new BucketModes(outer, settings);
  const readerMode = (bucket: string) => modes.ofReader(bucket).catch(unlessRefused);
  const hasIssuer = issuer !== undefined;
  const names = namesOf({ hasIssuer, mode: readerMode, keys: async () => keys });
  const connection = { ...outer, transport: sealingTransport(outer.transport, names) };
  const refusedUntilMs = new Map<string, number>();
  async function epochIdentity(bucket: EndToEndBucket, epoch: BucketEpoch) {
    return { ...epoch, ...(await keys.identity(bucket, epoch)) };
  }
  return {
    mode: (bucket) => modes.of(bucket),
    readerMode,
    readsOverHttp: 'url' in options,
    forget(bucket) {
      refusedUntilMs.delete(bucket);
      modes.forget(bucket);
    },
    async keepsVersions(bucket) {
      if ('url' in options || performance.now() < (refusedUntilMs.get(bucket) ?? 0)) return false;
      const mode = await modes.queried(bucket).catch(unlessRefused);
      if (mode === undefined) refusedUntilMs.set(bucket, performance.now() + refusedKnownMs);
      return (mode?.keepVersionsDays ?? 0) > 0;
    },
    async identities(id) {
      const bucket = await withIdentities(readerMode, id);
      const found: EpochIdentity[] = [];
      for (const epoch of bucket.mode.epochs) found.push(await epochIdentity(bucket, epoch));
      return found;
    },
    async identity(id, record) {
      const bucket = await withIdentities(
        record === undefined ? readerMode : async () => record,
        id,
      );
      await keys.sealingOf(bucket);
      return epochIdentity(bucket, bucket.mode.epochs.at(-1) as BucketEpoch);
    },
    async plainSize(record, version) {
      return plainBytesOf(record.size - prefixBytes(await prefixOf(connection, record, version)));
    },
    async sealedAs(record, source) {
      const bucketMode = await readerMode(record.bucketId);
      if (bucketMode === undefined || !mayBeOf(record.size, source.size)) return undefined;
      const prefix = await prefixOf(connection, record);
      if (record.size !== prefixBytes(prefix) + sealedBytesOf(source.size)) return undefined;
      try {
        const bucket = { id: record.bucketId, mode: bucketMode };
        const fileKey = await keys.fileKeyOf(bucket, prefix.header);
        const header = { prefix: concatBytes(prefix.header, prefix.nonce), fileKey };
        return await sealedSource(source, header, cipher);
      } catch (error) {
        if (isStorageError(error, 'NoIdentity')) return undefined;
        throw error;
      }
    },
  };
}

function prefixBytes({ header }: FilePrefix): number {
  return header.length + payloadNonceBytes;
}

/** Returns undefined if the service is of version 0.1.0, or the caller has no right to ask. */
function unlessRefused(error: unknown): undefined {
  if (isStorageError(error, 'Unsupported', 'AccessDenied', 'Unauthorized')) return undefined;
  throw error;
}

async function withIdentities(
  mode: BucketSecrets['readerMode'],
  id: string,
): Promise<EndToEndBucket> {
  const found = await mode(id);
  if (found?.usesVetKeys) return { id, mode: found };
  const words =
    found === undefined
      ? `Bucket ${id} is not end-to-end, or you have no right to ask for its mode.`
      : `Bucket ${id} has no identity by vetKeys; it uses only recipients that its owners chose.`;
  throw new StorageError('InvalidArgument', words);
}

/** Reads the header of an age file; costs two queries. */
async function prefixOf(
  connection: Connection,
  record: SealedFile,
  version?: number,
): Promise<FilePrefix> {
  const name = { bucket: record.bucketId, path: record.path };
  const request = { ...name, version, wantsFirst: false };
  const { etag, size, isAnonymous } = await perform(connection, 'openFile', request, undefined);
  return readPrefix({
    size,
    read: (start, end) => {
      const part = { ...name, version, start, end, etag, isAnonymous, isChunk: false };
      return perform(connection, 'readPart', part, undefined);
    },
  });
}
