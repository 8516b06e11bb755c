// Several files in their order; those that are small and follow each other go together.

import type {
  FileName,
  FileRecord,
  FileToUpload,
  UploadedFile,
} from '../../client/src/interface.ts';
import { openFileSource } from '../../client/src/node/file-source.ts';
import type { Storage } from '../../client/src/storage.ts';
import { smallFileBytesMax } from '../../client/src/upload-all.ts';
import { exitCodeOf, exitCodes } from './exit-code.ts';
import { nameOf } from './location.ts';
import { type OverallProgress, startOverall } from './progress-bar.ts';
import { type PutFileOptions, putFile, uploadOptions } from './put-file.ts';
import type { Run } from './run.ts';
import { countDone, countFailure, endsAll, goOnAfterFailure, type Tally } from './tally.ts';

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
  readonly tally: Tally;
  /** Gets those that are stored. */
  readonly records: FileRecord[];
}

/** Small files that are read ahead: some 40 MB at most. */
const heldFilesMax = 400;

type Held = FileToUpload & { readonly size: number };

/** Fails with what would end the work on all of them; other failures are counted. */
export async function putMany(job: Job, sources: readonly SizedSource[]): Promise<void> {
  const bytes = sources.reduce((sum, { size }) => sum + size, 0);
  const progress = startOverall({ files: sources.length, bytes }, job.run.isQuiet);
  const held: Held[] = [];
  const bucket = sources[0]?.name.bucket ?? '';
  const sendHeld = () => putHeld(job, { bucket, held: held.splice(0), progress });
  try {
    for (const source of sources) {
      const attempt = (work: () => Promise<void>) => goOnAfterFailure(job.tally, source.file, work);
      let isLarge = false;
      await attempt(async () => {
        const bytes = await readSmall(source.file);
        isLarge = bytes === undefined;
        if (bytes === undefined) return;
        const common = uploadOptions({ ...source, options: job.options }, job.run);
        held.push({ ...common, source: bytes, size: bytes.length });
      });
      if (isLarge || held.length === heldFilesMax) await sendHeld();
      if (isLarge) await attempt(() => putLarge(job, source, progress));
    }
    await sendHeld();
  } finally {
    progress.stop();
  }
}

/** Whole; `undefined` of one that is not small. */
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
  const { run, storage, tally, records } = job;
  const ended = new Map<string, UploadedFile>();
  for await (const one of storage.uploadAll(held, { bucket, signal: run.signal })) {
    ended.set(one.path, one);
  }
  for (const { path, size } of held) {
    const { file, error } = ended.get(path) ?? {};
    const name = nameOf({ bucket, path });
    if (error !== undefined) {
      countFailure(tally, name, error);
      if (isOfAll(error)) throw error;
    }
    if (file !== undefined) {
      records.push(file);
      countDone(tally, name);
    }
    progress.fileEnded(size);
  }
}

/** The others would fare no better. */
function isOfAll(error: unknown): boolean {
  return endsAll(error) || exitCodeOf(error) === exitCodes.accessDenied;
}

async function putLarge(
  { run, storage, options, tally, records }: Job,
  { file, name }: NamedSource,
  progress: OverallProgress,
): Promise<void> {
  const source = await openFileSource(file);
  try {
    const report = progress.track();
    const goesOnBy = 'the same command with --resume';
    const one = { source, file, name, options, report, goesOnBy };
    records.push(await putFile(run, storage, one));
    countDone(tally, nameOf(name));
  } finally {
    await source.close();
    progress.fileEnded(0);
  }
}
