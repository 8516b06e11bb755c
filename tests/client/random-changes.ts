// Random changes of a bucket, for tests of mirrors.

import type { Storage } from '../../packages/client/src/storage.ts';
import { sampleBytes } from '../support/service.ts';
import { collected } from './mirrored-buckets.ts';

type Random = (limit: number) => number;

interface Source {
  readonly owner: Storage;
  readonly bucket: string;
  readonly random: Random;
}

const pathsMax = 25;
const contents = (random: Random) => sampleBytes(`${random(1_000)}`, 1 + random(20_000));
const somePath = (random: Random) => `${random(2) === 0 ? 'a/' : 'b/'}${random(pathsMax)}`;

async function someVersion({ owner, bucket, random }: Source) {
  const all = await collected(owner.versions.list({ bucket }));
  return all[random(all.length)] ?? { path: 'none', version: 1 };
}

/** Changes as users make them; some find nothing to change. */
const changes: ((source: Source) => Promise<unknown>)[] = [
  ({ owner, bucket, random }) => owner.upload(contents(random), { bucket, path: somePath(random) }),
  ({ owner, bucket, random }) =>
    owner.upload(contents(random), { bucket, path: somePath(random), tags: ['t'] }),
  async ({ owner, bucket, random }) => {
    const files = Array.from({ length: 15 }, () => {
      return { path: somePath(random), source: contents(random), metadata: { n: `${random(9)}` } };
    });
    await collected(owner.uploadAll(files, { bucket }));
  },
  ({ owner, bucket, random }) => {
    const bytes = sampleBytes(`large ${random(1_000)}`, 2_000_000 + random(2_500_000));
    return owner.upload(bytes, { bucket, path: `large/${random(3)}` });
  },
  ({ owner, bucket, random }) => owner.remove({ bucket, path: somePath(random) }),
  ({ owner, bucket, random }) =>
    owner.move({ bucket, path: somePath(random) }, { path: somePath(random) }),
  ({ owner, bucket, random }) =>
    owner.move({ bucket, path: `large/${random(3)}` }, { path: `large/${random(3)}` }),
  ({ owner, bucket, random }) =>
    owner.copy({ bucket, path: somePath(random) }, { path: somePath(random) }),
  ({ owner, bucket, random }) => {
    const change = { tags: [`${random(5)}`], metadata: { m: `${random(5)}` } };
    return owner.change({ bucket, path: somePath(random) }, change);
  },
  async (source) => {
    const { owner, bucket } = source;
    const { path, version } = await someVersion(source);
    await owner.versions.erase({ bucket, path, version });
  },
  async (source) => {
    const { owner, bucket } = source;
    const { path, version } = await someVersion(source);
    await owner.versions.restore({ bucket, path, version });
  },
];

export async function changeAtRandom(
  owner: Storage,
  bucket: string,
  random: Random,
): Promise<void> {
  await changes[random(changes.length)]?.({ owner, bucket, random }).catch(() => {});
}
