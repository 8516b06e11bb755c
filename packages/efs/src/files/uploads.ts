// `efs uploads`: lists and cancels open uploads of a bucket, which count towards its quota.

import type { UploadSession } from '../../../client/src/types/transfers.ts';
import type { Run } from '../config/run.ts';
import { type Column, formatBytes, formatTable, printJson, printLine } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { formatTime } from '../output/times.ts';
import { UsageError } from '../output/usage-error.ts';
import { continueAfterFailure, countDone, finish, startSummary } from '../transfers/summary.ts';

const columns: readonly Column<UploadSession>[] = [
  { title: 'ID', value: ({ uploadId }) => uploadId },
  { title: 'SENT', value: ({ uploadedSize }) => formatBytes(uploadedSize), isNumber: true },
  {
    title: 'OF',
    value: ({ isSizeKnown, totalSize }) => (isSizeKnown ? formatBytes(totalSize) : '–'),
    isNumber: true,
  },
  { title: 'LAST CHUNK', value: ({ updatedAt }) => formatTime(updatedAt) },
  { title: 'EXPIRES', value: ({ expiresAt }) => formatTime(expiresAt) },
  { title: 'PATH', value: ({ path }) => printable(path) },
];

export async function listUploads(
  run: Run,
  bucket: string,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const uploads = await (await run.storage()).uploads.list({ bucket, signal: run.signal });
  if (json) printJson(uploads);
  else if (uploads.length > 0) printLine(formatTable(uploads, columns));
}

export async function cancelUploads(
  run: Run,
  { bucket, ids }: { readonly bucket: string; readonly ids: readonly string[] },
  { all }: { readonly all?: boolean },
): Promise<void> {
  if (all === true ? ids.length > 0 : ids.length === 0) {
    throw new UsageError('Name the uploads to cancel, or give --all.');
  }
  const storage = await run.storage();
  const { signal } = run;
  const open = all ? await storage.uploads.list({ bucket, signal }) : [];
  const summary = startSummary('cancelled');
  for (const uploadId of all ? open.map((upload) => upload.uploadId) : ids) {
    await continueAfterFailure(summary, uploadId, async () => {
      await storage.uploads.cancel({ bucket, uploadId, signal });
      countDone(summary, uploadId);
    });
  }
  finish(run, summary, false);
}
