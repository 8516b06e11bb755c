// `efs put --thumbnails`: makes thumbnails of the uploaded pictures, from the local files, and
// stores them. The decoder, the package sharp, is large and not part of the command.

import { createRequire as loaderFrom } from 'node:module';
import type Sharp from 'sharp';
import { inParallel } from '../../../client/src/connection/parallel.ts';
import { mediaTypeOf } from '../../../client/src/node/media-type.ts';
import type { Storage } from '../../../client/src/storage.ts';
import { abortedError } from '../../../client/src/storage-error.ts';
import { ageType } from '../../../client/src/types/end-to-end.ts';
import type { FileRecord } from '../../../client/src/types/files.ts';
import { thumbnailBytesMax } from '../../../wire/src/limits.ts';
import type { Run } from '../config/run.ts';
import { nameOf } from '../output/location.ts';
import { printNote } from '../output/output.ts';
import { printable } from '../output/printable.ts';
import { UsageError } from '../output/usage-error.ts';
import { continueAfterFailure, type Summary } from '../transfers/summary.ts';

/** An uploaded file, and where its bytes are here. */
interface Uploaded {
  readonly file: string;
  readonly record: FileRecord;
}

export type Maker = (file: string) => Promise<Uint8Array>;

const longSidePixels = 320;
const qualities = [80, 60, 40];
/** A photograph of 12 megapixels takes about 50 MB while it is decoded. */
const atOnceMax = 4;

/** Returns a function that makes a thumbnail of a file. Refuses if sharp is not installed. */
export function thumbnailMaker(): Maker {
  const sharp = loadSharp();
  return async (file) => {
    const small = sharp(file)
      .autoOrient()
      .resize(longSidePixels, longSidePixels, { fit: 'inside', withoutEnlargement: true });
    for (const quality of qualities) {
      const bytes = await small.clone().webp({ quality }).toBuffer();
      if (bytes.length <= thumbnailBytesMax) return bytes;
    }
    throw new Error(`its thumbnail has more than ${thumbnailBytesMax} bytes`);
  };
}

function loadSharp(): typeof Sharp {
  try {
    return loaderFrom(import.meta.url)('sharp') as typeof Sharp;
  } catch (cause) {
    const words = '--thumbnails needs the package sharp: run npm install -g sharp, or beside efs.';
    throw new UsageError(words, { cause });
  }
}

/** Encrypted files have a type by their names. */
function typeOf({ contentType, path }: FileRecord): string {
  return contentType === ageType ? mediaTypeOf(path) : contentType;
}

/** A picture that cannot be decoded gets a note, one that the service refuses counts as failed. */
export async function putThumbnails(
  { run, storage, make }: { readonly run: Run; readonly storage: Storage; readonly make: Maker },
  summary: Pick<Summary, 'failures'>,
  uploaded: readonly Uploaded[],
): Promise<void> {
  const pictures = uploaded.filter(({ record }) => /^image\/(?!svg)/.test(typeOf(record)));
  const counted = { verb: 'given a thumbnail', failures: summary.failures };
  const putOne = async ({ file, record }: Uploaded, signal: AbortSignal) => {
    const { bucketId: bucket, path, etag } = record;
    const name = nameOf({ bucket, path });
    const picture = await make(file).catch((error: Error) => {
      printNote(`No thumbnail of ${printable(name)}: ${printable(error.message)}`);
      return undefined;
    });
    if (picture === undefined) return;
    await continueAfterFailure(counted, name, () =>
      storage.thumbnails.put({ bucket, path, etag }, picture, { signal }),
    );
  };
  const left = pictures.values();
  await inParallel({ concurrency: atOnceMax, signal: run.signal }, async (signal) => {
    for (const one of left) {
      if (signal.aborted) throw abortedError(signal.reason);
      await putOne(one, signal);
    }
  });
}
