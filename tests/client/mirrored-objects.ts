// A bucket of the service and its mirror in S3, in a form that is equal for both.

import { createHash } from 'node:crypto';
import {
  GetObjectCommand,
  GetObjectTaggingCommand,
  ListObjectVersionsCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { Storage } from '../../packages/client/src/storage.ts';
import { collected } from './mirrored-buckets.ts';

export interface StoredBytes {
  readonly sha256: string;
  readonly contentType: string | undefined;
  readonly metadata: object;
  readonly tags?: readonly string[];
}

export interface ObjectStates {
  readonly present?: StoredBytes;
  readonly former: StoredBytes[];
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function sorted(states: Map<string, ObjectStates>): Map<string, ObjectStates> {
  return new Map([...states].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Reads all files and former versions, with their bytes. Former versions have no tags. */
export async function filesIn(
  storage: Storage,
  bucket: string,
): Promise<Map<string, ObjectStates>> {
  const states = new Map<string, ObjectStates>();
  const read = async (path: string, version: number) =>
    sha256(await (await storage.download({ bucket, path }, { version })).bytes());
  for (const each of await collected(storage.versions.list({ bucket }))) {
    const { path, version, contentType, metadata = {} } = each;
    const state = states.get(path) ?? { former: [] };
    state.former.push({ sha256: await read(path, version), contentType, metadata });
    states.set(path, state);
  }
  for await (const { path, version, contentType, metadata = {}, tags } of storage.list({
    bucket,
  })) {
    const present = { contentType, metadata, tags: [...tags].sort() };
    const former = states.get(path)?.former ?? [];
    states.set(path, { present: { sha256: await read(path, version), ...present }, former });
  }
  return sorted(states);
}

export interface Mirror {
  readonly client: S3Client;
  readonly Bucket: string;
  readonly Prefix: string;
}

/** Reads all objects below the prefix, oldest versions first, without the mirror's mark. */
export async function objectsIn({ client, Bucket, Prefix }: Mirror) {
  const states = new Map<string, ObjectStates>();
  let KeyMarker: string | undefined;
  let VersionIdMarker: string | undefined;
  do {
    const input = { Bucket, Prefix, KeyMarker, VersionIdMarker };
    const page = await client.send(new ListObjectVersionsCommand(input));
    for (const { Key = '', VersionId, IsLatest } of page.Versions ?? []) {
      const path = Key.slice(Prefix.length);
      const object = await objectAt(client, { Bucket, Key, VersionId });
      const state = states.get(path) ?? { former: [] };
      if (!IsLatest) state.former.unshift(object);
      const tags = IsLatest ? await tagsOf(client, { Bucket, Key }) : [];
      states.set(path, IsLatest ? { ...state, present: { ...object, tags } } : state);
    }
    KeyMarker = page.NextKeyMarker;
    VersionIdMarker = page.NextVersionIdMarker;
  } while (KeyMarker);
  return sorted(states);
}

interface Name {
  readonly Bucket: string;
  readonly Key: string;
  readonly VersionId?: string | undefined;
}

async function objectAt(client: S3Client, name: Name): Promise<StoredBytes> {
  const got = await client.send(new GetObjectCommand(name));
  const bytes = (await got.Body?.transformToByteArray()) ?? new Uint8Array();
  const { 'efs-mirror': mark, ...metadata } = got.Metadata ?? {};
  if (mark === undefined) throw new Error(`${name.Key} lacks the mirror's mark.`);
  return { sha256: sha256(bytes), contentType: got.ContentType, metadata };
}

async function tagsOf(client: S3Client, name: Name): Promise<string[]> {
  const { TagSet = [] } = await client.send(new GetObjectTaggingCommand(name));
  return TagSet.map(({ Key, Value }) => (Value ? `${Key}=${Value}` : `${Key}`)).sort();
}
