// All that a mirror copies of a bucket, in a form that is equal for two equal buckets.

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
