// Stores the volumes of a service's buckets beside the profiles, so that a command seldom asks the
// front and all volumes.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../../../client/src/node/replace-file.ts';
import type { VolumeMemory } from '../../../client/src/types/service.ts';
import type { Configuration } from './config.ts';
import { configFolder } from './profiles.ts';

type Service = Pick<Configuration, 'front' | 'host' | 'environment'>;

interface Known {
  readonly bucket: string;
  readonly volume: string;
  readonly foundAtMs: number;
}

/** Maximum number of buckets in the file; the oldest are dropped. */
const bucketsMax = 1_000;
/** After this time the volumes are asked again. */
const knownMs = 86_400_000;

/** Returns the memory of one service: a JSON file, read once and replaced by each change. */
export function volumeMemory({ front, host, environment }: Service): VolumeMemory {
  const name = createHash('sha256').update(`${host} ${front}`).digest('hex').slice(0, 32);
  const file = join(configFolder(environment), 'volumes', `${name}.json`);
  let reading: Promise<Map<string, Known>> | undefined;
  let writing: Promise<void> = Promise.resolve();
  function known(): Promise<Map<string, Known>> {
    reading ??= readKnown(file);
    return reading;
  }
  /** Changes what the file has now, because other processes also write it. */
  function change(edit: (buckets: Map<string, Known>) => void): Promise<void> {
    writing = writing.then(async () => {
      const buckets = await readKnown(file);
      edit(buckets);
      await writeKnown(file, buckets);
    });
    return writing;
  }
  return {
    async get(bucket) {
      const found = (await known()).get(bucket);
      return found !== undefined && isRecent(found) ? found.volume : undefined;
    },
    async set(bucket, volume) {
      const found = { bucket, volume, foundAtMs: Date.now() };
      (await known()).set(bucket, found);
      await change((buckets) => {
        // A bucket that is found again becomes the newest.
        buckets.delete(bucket);
        buckets.set(bucket, found);
      });
    },
    async delete(bucket) {
      if ((await known()).delete(bucket)) await change((buckets) => void buckets.delete(bucket));
    },
  };
}

/** A time in the future comes from a clock that was ahead. */
function isRecent({ foundAtMs }: Known): boolean {
  const ageMs = Date.now() - foundAtMs;
  return ageMs >= 0 && ageMs < knownMs;
}

/** Returns an empty map for a missing or damaged file: the volumes can be asked again. */
async function readKnown(file: string): Promise<Map<string, Known>> {
  try {
    const all = JSON.parse(await readFile(file, 'utf8')) as readonly unknown[];
    return new Map(all.filter(isKnown).map((known) => [known.bucket, known]));
  } catch {
    return new Map();
  }
}

function isKnown(value: unknown): value is Known {
  const { bucket, volume, foundAtMs } = Object(value) as Partial<Known>;
  const isId = typeof volume === 'string' && /^[a-z2-7]{1,5}(?:-[a-z2-7]{1,5}){0,12}$/.test(volume);
  return isId && typeof bucket === 'string' && typeof foundAtMs === 'number';
}

async function writeKnown(file: string, buckets: ReadonlyMap<string, Known>): Promise<void> {
  const newest = [...buckets.values()].slice(-bucketsMax);
  try {
    const text = `${JSON.stringify(newest)}\n`;
    await replaceFile(file, text, { flush: false });
  } catch (error) {
    // Without a writable folder, as in some containers, each command asks the volumes.
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
  }
}
