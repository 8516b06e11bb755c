// The service's Candid records in the agent's representation, from the generated types.

import type { ActorMethod } from '@icp-sdk/core/agent';
import type { Principal } from '@icp-sdk/core/principal';
import type {
  _SERVICE,
  ApiKey,
  Bucket,
  FileRecord,
  FileUpload,
  NewApiKey,
  Status,
  Upload,
  UploadRequest,
} from '../candid/file_storage.did.ts';

export type Optional<T> = [] | [T];
export type Result<T> = { readonly ok: T } | { readonly err: string };

/** Fields that records of version 0.1.0 lack. */
export type FieldsSince010 =
  | 'metadata'
  | 'overheadBytes'
  | 'openUploads'
  | 'keepVersionsDays'
  | 'versionCount'
  | 'versionBytes'
  | 'isSite'
  | 'isListed'
  | 'chunkSize'
  | 'isSizeKnown'
  | 'anonymousUpdates';

type Since010<T> = {
  readonly [Name in keyof T]: Name extends FieldsSince010 ? Optional<T[Name]> : T[Name];
};

export type CandidFile = Since010<FileRecord>;
export type CandidBucket = Since010<Bucket>;
export type CandidStatus = Since010<Status>;
export type CandidUpload = Since010<Upload>;
/** The fields that new and listed keys have in common. */
export type CandidKey = Pick<ApiKey, keyof ApiKey & keyof NewApiKey>;

/** A result whose records may come from version 0.1.0. */
type Answered<T> = T extends FileRecord
  ? CandidFile
  : T extends Bucket
    ? CandidBucket
    : T extends Status
      ? CandidStatus
      : T extends Upload
        ? CandidUpload
        : T extends readonly (infer Item)[]
          ? Answered<Item>[]
          : T extends { items: infer Items }
            ? Omit<T, 'items'> & { items: Answered<Items> }
            : T extends { ok: infer Ok }
              ? { ok: Answered<Ok> }
              : T;

/** The type of an argument, which accepts readonly values. */
type Sent<T> = T extends Uint8Array | Principal ? T : { readonly [Name in keyof T]: Sent<T[Name]> };

type SentEach<T extends unknown[]> = { [Place in keyof T]: Sent<T[Place]> };

type Caller<T> = T extends (...values: infer Values) => Promise<infer Answer>
  ? ActorMethod<SentEach<Values>, Answered<Answer>>
  : never;

export type ServiceActor = { [Name in keyof _SERVICE]: Caller<_SERVICE[Name]> };

export interface EarlierUploadActor {
  uploadFile: Caller<(request: Omit<FileUpload, 'metadata'>) => Promise<Result<string>>>;
  beginFileUploadWith: Caller<
    (request: Omit<UploadRequest, 'size'> & { size: bigint }) => Promise<Result<string>>
  >;
}
