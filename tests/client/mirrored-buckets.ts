// All that a mirror copies of a bucket, in a form that is equal for two equal buckets, and a history
// of versions to copy.

import type { Storage } from '../../packages/client/src/storage.ts';

export interface MirroredState {
  readonly present?: object;
  readonly former: object[];
}

/** Returns the files and former versions by path, without numbers and times. */
export async function statesIn(
  storage: Storage,
  bucket: string,
): Promise<Map<string, MirroredState>> {
  const states = new Map<string, MirroredState>();
  const former = await collected(storage.versions.list({ bucket }));
  for (const { path, etag, size, contentType, metadata } of former) {
    const state = states.get(path) ?? { former: [] };
    state.former.push({ etag, size, contentType, metadata });
    states.set(path, state);
  }
  for await (const file of storage.list({ bucket })) {
    const { path, etag, size, contentType, metadata, tags } = file;
    const present = { etag, size, contentType, metadata, tags: [...tags].sort() };
    states.set(path, { present, former: states.get(path)?.former ?? [] });
  }
  return new Map([...states].sort(([one], [other]) => (one < other ? -1 : 1)));
}

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Erases and restores versions of the file `a`; `mirrored` is awaited after each change. */
export async function eraseAndRestore(
  storage: Storage,
  bucket: string,
  mirrored: () => Promise<void>,
): Promise<void> {
  const file = { bucket, path: 'a' };
  for (const words of ['1', '2', '3', '4']) await storage.upload(new Blob([words]), file);
  await mirrored();
  const versions = await collected(storage.versions.list(file));
  const [one, two] = versions.map(({ version }) => version);
  await storage.versions.erase({ ...file, version: two as number });
  await mirrored();
  await storage.versions.restore({ ...file, version: one as number });
  await mirrored();
  await storage.remove(file);
  await mirrored();
  const [last] = (await collected(storage.versions.list(file))).reverse();
  await storage.versions.restore({ ...file, version: last?.version as number });
  await mirrored();
  const { version } = await storage.stat(file);
  await storage.versions.erase({ ...file, version });
  await mirrored();
}
