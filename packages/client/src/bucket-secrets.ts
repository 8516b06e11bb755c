// What is done with the secrets of an end-to-end bucket beside storing and reading files: its
// identities shown, its recipient published, a file compared with what is stored.

import { BucketKeys, type EndToEndBucket } from './age/bucket-keys.ts';
import { memoryIdentityStore } from './age/identity-store.ts';
import { type FilePrefix, readPrefix } from './age/opened-file.ts';
import { mayBeOf, payloadNonceBytes, plainBytesOf, sealedBytesOf } from './age/payload.ts';
import { softwarePieceCipher } from './age/piece-cipher.ts';
import { sealedSource } from './age/sealed-source.ts';
import { concatBytes } from './bytes/bytes.ts';
import type { OpenedSource, UploadSource } from './bytes/upload-source.ts';
import { type Connection, trying } from './connection/connection.ts';
import type { ToldMode } from './connection/transport.ts';
import { modeOf } from './end-to-end.ts';
import { connectionOver } from './http-storage.ts';
import { namesOf } from './sealed-names/bucket-names.ts';
import { sealingTransport } from './sealed-names/sealing-transport.ts';
import { issuerOf, type StorageOptions, transportOf } from './storage.ts';
import { isStorageError, StorageError } from './storage-error.ts';
import type { BucketEpoch, EndToEndOptions, EndToEndRecord } from './types/end-to-end.ts';
import type { FileRecord } from './types/files.ts';

export interface EpochIdentity extends BucketEpoch {
  /** `AGE-SECRET-KEY-1…`. */
  readonly identity: string;
  readonly recipient: string;
}

export interface BucketSecrets {
  /** Undefined of a bucket that is not end-to-end, or that the caller may not ask about. */
  mode(bucket: string): Promise<EndToEndRecord | undefined>;
  /** What is replaced in the bucket stays for a while; false where nobody tells, as over HTTP. */
  keepsVersions(bucket: string): Promise<boolean>;
  /** What is known of the bucket is asked for anew. */
  forget(bucket: string): void;
  /** Verified, the newest last; each that is not kept costs the service a derivation. */
  identities(bucket: string): Promise<EpochIdentity[]>;
  /** Of the newest epoch, of the record if that is told; an owner publishes a missing recipient. */
  identity(bucket: string, record?: EndToEndRecord): Promise<EpochIdentity>;
  /**
   * Bytes of what is in a stored age file, by its header; its secrets are not needed. A former
   * version is read by its number.
   */
  plainSize(record: FileRecord, version?: number | undefined): Promise<number>;
  /**
   * The source as it would be stored under the key of the file that is there: of the same digest
   * if it is the same. Undefined where the size says that it is not, or nothing here opens it.
   */
  sealedAs(record: FileRecord, source: UploadSource): Promise<OpenedSource | undefined>;
}

export function bucketSecrets(options: StorageOptions, settings: EndToEndOptions): BucketSecrets {
  const outer = connectionOver(transportOf(options), options);
  const { identities = [], passphrases = [], store = memoryIdentityStore() } = settings;
  const { cipher = softwarePieceCipher } = settings;
  const issuer = issuerOf(options);
  const keys = new BucketKeys(outer, { identities, passphrases, store, issuer });
  const { told, forget } = rememberedBuckets(outer);
  const mode: BucketSecrets['mode'] = async (bucket) => modeOf(await told(bucket));
  const hasIssuer = issuer !== undefined;
  const names = namesOf({ hasIssuer, mode, keys: async () => keys });
  const connection = { ...outer, transport: sealingTransport(outer.transport, names) };
  async function epochIdentity(bucket: EndToEndBucket, epoch: BucketEpoch) {
    return { ...epoch, ...(await keys.identity(bucket, epoch)) };
  }
  return {
    mode,
    forget,
    // Over HTTP a bucket is asked for by an update, and its answer does not tell this.
    keepsVersions: async (bucket) =>
      !('url' in options) && ((await told(bucket)).keepVersionsDays ?? 0) > 0,
    async identities(id) {
      const bucket = await withIdentities(mode, id);
      const found: EpochIdentity[] = [];
      for (const epoch of bucket.mode.epochs) found.push(await epochIdentity(bucket, epoch));
      return found;
    },
    async identity(id, record) {
      const bucket = await withIdentities(record === undefined ? mode : async () => record, id);
      await keys.sealingOf(bucket);
      return epochIdentity(bucket, bucket.mode.epochs.at(-1) as BucketEpoch);
    },
    async plainSize(record, version) {
      return plainBytesOf(record.size - prefixBytes(await prefixOf(connection, record, version)));
    },
    async sealedAs(record, source) {
      const bucketMode = await mode(record.bucketId);
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

/** So long a bucket is taken to be what it was: one without files may become end-to-end. */
const bucketKnownMs = 60_000;

function rememberedBuckets(connection: Connection) {
  const known = new Map<string, { told: Promise<ToldMode>; untilMs: number }>();
  const forget = (bucket: string): void => {
    known.delete(bucket);
  };
  function told(bucket: string): Promise<ToldMode> {
    const former = known.get(bucket);
    if (former !== undefined && Date.now() < former.untilMs) return former.told;
    const asked = askBucket(connection, bucket);
    known.set(bucket, { told: asked, untilMs: Date.now() + bucketKnownMs });
    asked.catch(() => forget(bucket));
    return asked;
  }
  return { told, forget };
}

async function askBucket(connection: Connection, bucket: string): Promise<ToldMode> {
  const { transport } = connection;
  try {
    return await trying(connection, undefined, () => transport.getEndToEnd(bucket, undefined));
  } catch (error) {
    // Of a service of an earlier version, or of a bucket that others may know more of.
    const codes = ['NoSuchFile', 'MethodNotAllowed', 'AccessDenied', 'Unauthorized'];
    if (codes.some((code) => isStorageError(error, code))) return {};
    throw error;
  }
}

async function withIdentities(mode: BucketSecrets['mode'], id: string): Promise<EndToEndBucket> {
  const found = await mode(id);
  if (found?.usesVetKeys) return { id, mode: found };
  const words =
    found === undefined
      ? `Bucket ${id} is not end-to-end, or you may not ask: it has no identity.`
      : `Bucket ${id} has recipients of its owners' own alone, and no identity of the network's.`;
  throw new StorageError('InvalidArgument', words);
}

/** By two queries. */
async function prefixOf(
  connection: Connection,
  record: FileRecord,
  version?: number,
): Promise<FilePrefix> {
  const name = { bucket: record.bucketId, path: record.path };
  const { transport } = connection;
  const open = () => transport.openFile(name, { wantsFirst: false, version, signal: undefined });
  const { etag, size, isAnonymous } = await trying(connection, undefined, open);
  return readPrefix({
    size,
    read: (start, end) => {
      const part = { ...name, version, start, end, etag, isAnonymous, isChunk: false };
      return trying(connection, undefined, () => transport.readPart(part, undefined));
    },
  });
}
