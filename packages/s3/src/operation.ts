// The context of every operation.

import type { Account } from './account.ts';
import type { Answer } from './answer.ts';
import type { Body } from './body/open-body.ts';
import type { ChunkRoom } from './chunk-source.ts';
import type { MultipartUploads } from './multipart/multipart-uploads.ts';
import type { RecentRanges } from './recent-ranges.ts';
import type { S3Request } from './request.ts';
import type { SmallPuts } from './small-puts.ts';

export interface Operation {
  readonly request: S3Request;
  readonly account: Account;
  /** Empty for an unsigned request. */
  readonly accessKeyId: string;
  /** It came with a signature. */
  readonly isSigned: boolean;
  /** Opens the body, once. */
  readonly openBody: () => Body;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Chunks under way at a time, of this operation: what it may hold in memory. */
  readonly concurrency: number;
  readonly room: ChunkRoom;
  readonly smallPuts: SmallPuts;
  readonly ranges: RecentRanges;
  readonly multipart: MultipartUploads;
}

export type Handler = (operation: Operation) => Promise<Answer>;

export interface Route {
  readonly run: Handler;
  /** Query parameters allowed beside the name that chooses the route. */
  readonly parameters?: readonly string[];
  /** Something is different after it: refused where the S3 server only reads. */
  readonly isChange?: boolean;
  /** Bytes of objects come or go: only so many at a time. */
  readonly movesBytes?: boolean;
}
