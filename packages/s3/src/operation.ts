// The context of every operation.

import type { Account } from './account.ts';
import type { Answer } from './answer.ts';
import type { Body } from './body/open-body.ts';
import type { MemoryBudget } from './chunk-source.ts';
import type { CorsOrigins } from './cors.ts';
import type { MultipartUploads } from './multipart/multipart-uploads.ts';
import type { RecentRanges } from './recent-ranges.ts';
import type { RecordReads } from './record-reads.ts';
import type { S3Request } from './request.ts';
import type { SmallGets } from './small-gets.ts';
import type { SmallPuts } from './small-puts.ts';

export interface Operation {
  readonly request: S3Request;
  readonly account: Account;
  /** Empty for an unsigned request. */
  readonly accessKeyId: string;
  /** Whether the request has a valid signature. */
  readonly isSigned: boolean;
  /** Opens the body; can be called once. */
  readonly openBody: () => Body;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Maximum number of concurrent chunks of this operation, which limits its memory. */
  readonly concurrency: number;
  /** Waits until the request may transfer a long body; returns its concurrency. */
  readonly enterTransfers: () => Promise<number>;
  readonly memory: MemoryBudget;
  readonly smallPuts: SmallPuts;
  readonly smallGets: SmallGets;
  readonly records: RecordReads;
  readonly ranges: RecentRanges;
  readonly multipart: MultipartUploads;
  /** See S3ServerOptions. */
  readonly corsOrigins: CorsOrigins;
}

export type Handler = (operation: Operation) => Promise<Answer>;

export interface Route {
  readonly run: Handler;
  /** Allowed query parameters besides the name that chooses the route. */
  readonly parameters?: readonly string[];
  /** Header fields, without `x-amz-`, that this operation obeys and that others refuse. */
  readonly obeys?: readonly string[];
  /** Whether the operation changes something: a read-only server refuses it. */
  readonly isChange?: boolean;
  /**
   * Whether the operation transfers bytes of objects: their number is limited. 'if long': it calls
   * `enterTransfers` before it transfers more than a small object.
   */
  readonly movesBytes?: boolean | 'if long';
}
