// One upload in progress: its source, target and options.

import type { OpenedSource } from '../bytes/upload-source.ts';
import type { Connection } from '../connection/connection.ts';
import type { FileMetadata } from '../operations/uploads.ts';
import type { Progress, UploadOptions } from '../types/transfers.ts';

export interface UploadJob {
  readonly connection: Connection;
  readonly source: OpenedSource;
  readonly options: UploadOptions;
  readonly metadata: FileMetadata;
  readonly concurrency: number;
  report(progress: Progress): void;
}
