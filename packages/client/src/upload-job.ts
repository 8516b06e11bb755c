// One upload under way: what is sent, where it goes, and how.

import type { Connection } from './connection.ts';
import type { Progress, UploadOptions } from './interface.ts';
import type { FileMetadata } from './transport.ts';
import type { OpenedSource } from './upload-source.ts';

export interface UploadJob {
  readonly connection: Connection;
  readonly source: OpenedSource;
  readonly options: UploadOptions;
  readonly metadata: FileMetadata;
  readonly concurrency: number;
  report(progress: Progress): void;
}
