// The fields of an object in S3: type, metadata and tags of the file, and the mirror's own mark,
// which says what the file's bytes are and that this mirror stored the object.

import type { UserMetadata } from '../../../../client/src/types/files.ts';
import { type NoteDigests, notesDigest, tagsDigest } from '../note-digests.ts';

/** Name of the mark among the object's metadata. */
const markName = 'efs-mirror';
const layout = '1';
/** S3 takes 2,048 bytes of names and values, of which `efs serve s3` needs about 100. */
const metadataBytesMax = 1_920;
const tagCountMax = 10;

export interface Mark {
  readonly etag: string;
  /** Length of the chunks that the entity tag is computed from, if they are several. */
  readonly chunkBytes: number | undefined;
  /** Digest of the whole file, if it is known. */
  readonly sha256: string | undefined;
  readonly digests: NoteDigests;
  /** The mirrored service and bucket. */
  readonly source: string;
}

export interface Notes {
  readonly contentType?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: UserMetadata | undefined;
}

/** Returns undefined if no mirror of this layout stored the object. */
export function markIn(metadata: Readonly<Record<string, string>> = {}): Mark | undefined {
  const words = (metadata[markName] ?? '').split(' ');
  const [first, etag, chunkBytes, sha256, notes, tags, source] = words;
  if (first !== layout || notes === undefined || tags === undefined) return undefined;
  if (etag === undefined || source === undefined) return undefined;
  return {
    ...{ etag, source, digests: { notes, tags } },
    chunkBytes: Number(chunkBytes) || undefined,
    sha256: sha256 === '-' ? undefined : sha256,
  };
}

/** Returns the fields with which an object is stored. */
export function fieldsOf(notes: Notes, mark: Omit<Mark, 'digests'>) {
  const { etag, chunkBytes = '-', sha256 = '-', source } = mark;
  const digests = `${notesDigest(notes)} ${tagsDigest(notes.tags)}`;
  const own = [layout, etag, chunkBytes, sha256, digests, source].join(' ');
  return {
    ContentType: notes.contentType,
    Metadata: metadataOf(own, notes.metadata),
    Tagging: taggingOf(notes.tags),
  };
}

/** Leaves out the last pairs if S3 has no room for all. */
function metadataOf(mark: string, metadata: UserMetadata = {}): Record<string, string> {
  const fields: Record<string, string> = { [markName]: mark };
  let bytes = markName.length + mark.length;
  for (const [name, value] of Object.entries(metadata)) {
    const text = headerText(value);
    bytes += name.length + text.length;
    if (bytes > metadataBytesMax) break;
    if (name.toLowerCase() !== markName) fields[name.toLowerCase()] = text;
  }
  return fields;
}

/** Encodes as RFC 2047 what a header field cannot contain, as S3 does in its answers. */
function headerText(value: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) return value;
  return `=?UTF-8?B?${Buffer.from(value).toString('base64')}?=`;
}

/** Returns the tags that S3 takes, in its form: `env=prod` has a value, other words have none. */
function taggingOf(tags: readonly string[] = []): string | undefined {
  const pairs = new Map<string, string>();
  for (const tag of tags) {
    const [name = '', ...value] = tag.split('=');
    const isValid = name !== '' && /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u.test(tag);
    if (isValid && !pairs.has(name) && pairs.size < tagCountMax) pairs.set(name, value.join('='));
  }
  return pairs.size === 0 ? undefined : String(new URLSearchParams([...pairs]));
}
