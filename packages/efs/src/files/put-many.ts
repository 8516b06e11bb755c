// Uploads several files and reports them in order. Consecutive small files share a request, and
// consecutive files of one chunk are sent in parallel.

import { openFileSource } from '../../../client/src/node/file-source.ts';
import type { Storage } from '../../../client/src/storage.ts';
import type { FileName, FileRecord } from '../../../client/src/types/files.ts';
import type { FileToUpload, UploadedFile } from '../../../client/src/types/transfers.ts';
import { smallFileBytesMax } from '../../../client/src/uploads/upload-all.ts';
import { chunkBytesMax } from '../../../wire/src/limits.ts';
import type { Run } from '../config/run.ts';
import { exitCodeOf, exitCodes } from '../output/exit-code.ts';
import { nameOf } from '../output/location.ts';
import { type OverallProgress, startOverall } from '../output/progress-bar.ts';
import { type PutFileOptions, putFile, uploadOptions } from '../transfers/put-file.ts';
import {
  continueAfterFailure,
  countDone,
  countFailure,
  endsAll,
  type Summary,
} from '../transfers/summary.ts';

export interface NamedSource {
  readonly file: string;
  readonly name: FileName;
}

export interface SizedSource extends NamedSource {
  readonly size: number;
}

interface Job {
  readonly run: Run;
  readonly storage: Storage;
  readonly options: PutFileOptions;
  readonly summary: Summary;
  readonly records: FileRecord[];
}

/** Maximum number of small files that are read ahead: about 40 MB. */
const heldFilesMax = 400;

type Held = FileToUpload & { readonly size: number };

/** Rejects with an error that affects all files; counts other failures. */
export async function putMany(job: Job, sources: readonly SizedSource[]): Promise<void> {
  const bytes = sources.reduce((sum, { size }) => sum + size, 0);
  const progress = startOverall({ files: sources.length, bytes }, job.run.isQuiet);
  const held: Held[] = [];
  const bucket = sources[0]?.name.bucket ?? '';
  const group: SizedSource[] = [];
  const sendGroup = () => putGroup(job, group.splice(0), progress);
  const sendHeld = () => putHeld(job, { bucket, held: held.splice(0), progress });
  try {
    for (const source of sources) {
      const attempt = (work: () => Promise<void>) =>
        continueAfterFailure(job.summary, source.file, work);
      let isLarge = false;
      await attempt(async () => {
        const bytes = await readSmall(source.file);
        isLarge = bytes === undefined;
        if (bytes === undefined) return;
        const common = uploadOptions({ ...source, options: job.options }, job.run);
        held.push({ ...common, source: bytes, size: bytes.length });
      });
      if (held.length === heldFilesMax || (isLarge && held.length > 0)) await sendHeld();
      if (!isLarge) {
        // Preceding larger files are sent before a small one.
        await sendGroup();
      } else if (source.size > chunkBytesMax) {
        await sendGroup();
        await putGroup(job, [source], progress);
      } else if (group.push(source) >= job.options.parallel) {
        await sendGroup();
      }
    }
    await sendGroup();
    await sendHeld();
  } finally {
    progress.stop();
  }
}

/** Returns the whole content; `undefined` for a file that is not small. */
async function readSmall(file: string): Promise<Uint8Array | undefined> {
  const source = await openFileSource(file);
  try {
    return source.size > smallFileBytesMax ? undefined : await source.slice(0, source.size);
  } finally {
    await source.close();
  }
}

interface HeldFiles {
  readonly bucket: string;
  readonly held: readonly Held[];
  readonly progress: OverallProgress;
}

async function putHeld(job: Job, { bucket, held, progress }: HeldFiles): Promise<void> {
  const { run, storage, summary, records } = job;
  const sizeByPath = new Map(held.map(({ path, size }) => [path, size]));
  const ended = new Map<string, UploadedFile>();
  for await (const one of storage.uploadAll(held, { bucket, signal: run.signal })) {
    ended.set(one.path, one);
    progress.fileEnded(sizeByPath.get(one.path) ?? 0);
  }
  for (const { path } of held) {
    const { file, error } = ended.get(path) ?? {};
    const name = nameOf({ bucket, path });
    if (error !== undefined) {
      countFailure(summary, name, error);
      if (isOfAll(error)) throw error;
    }
    if (file !== undefined) {
      records.push(file);
      countDone(summary, name);
    }
  }
}

/** Returns whether the error affects all other files too. */
function isOfAll(error: unknown): boolean {
  return endsAll(error) || exitCodeOf(error) === exitCodes.accessDenied;
}

async function putGroup(
  job: Job,
  group: readonly SizedSource[],
  progress: OverallProgress,
): Promise<void> {
  const { summary, records, options } = job;
  const parallel = group.length > 1 ? 1 : options.parallel;
  const results = await Promise.allSettled(
    group.map((source) => putAlone(job, { source, parallel, progress })),
  );
  for (const [index, { file, name }] of group.entries()) {
    await continueAfterFailure(summary, file, async () => {
      const result = results[index];
      if (result?.status === 'rejected') throw result.reason;
      if (result === undefined) return;
      records.push(result.value);
      countDone(summary, nameOf(name));
    });
  }
}

interface OneFile {
  readonly source: NamedSource;
  readonly parallel: number;
  readonly progress: OverallProgress;
}

async function putAlone({ run, storage, options: wishes }: Job, one: OneFile): Promise<FileRecord> {
  const { file, name } = one.source;
  const source = await openFileSource(file);
  try {
    const report = one.progress.track();
    const continuedBy = 'the same command with --resume';
    const options = { ...wishes, parallel: one.parallel };
    return await putFile(run, storage, { source, file, name, options, report, continuedBy });
  } finally {
    await source.close();
    one.progress.fileEnded(0);
  }
}
