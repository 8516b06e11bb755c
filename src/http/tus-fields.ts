// Header fields of the tus protocol 1.0.0: metadata, checksums, offsets, and the fields of answers.

import { sha1, sha256 } from '../crypto/hash.ts';
import { quote } from '../domain/shared/names.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { expiresAtNs, type UploadSession } from '../domain/uploads/upload-session.ts';
import { decodeBase64 } from '../lib/base64.ts';
import { bytesEqual } from '../lib/bytes.ts';
import { decodeUtf8 } from '../lib/text.ts';
import { type Header, type HttpRequest, header, singleHeader } from './message.ts';
import { formatHttpDate } from './preconditions.ts';
import { tusVersion } from './preflight.ts';

/** Refuses a request in another version of the protocol with 412. */
export function requireTusVersion(request: HttpRequest): void {
  const sent = header(request, 'tus-resumable');
  if (sent === tusVersion) return;
  throw new Refusal(
    'PreconditionFailed',
    `The header Tus-Resumable must be ${tusVersion}, the version that this service speaks; ` +
      (sent === undefined ? 'it is missing.' : `got ${quote(sent)}.`),
  );
}

/** Refuses an upload of parts, which would be stored as files of their own. */
export function refuseConcatenation(request: HttpRequest): void {
  if (header(request, 'upload-concat') === undefined) return;
  throw new Refusal(
    'InvalidArgument',
    'Uploads in parallel parts (Upload-Concat) are not supported: send the file as one upload.',
  );
}

/** Returns the bytes in a field of decimal digits, such as Upload-Length. */
export function bytesField(request: HttpRequest, name: 'upload-length' | 'upload-offset'): bigint {
  const sent =
    name === 'upload-length'
      ? singleHeader(request, 'upload-length')
      : singleHeader(request, 'upload-offset');
  if (sent !== undefined && /^\d{1,16}$/.test(sent)) return BigInt(sent);
  throw new Refusal(
    'InvalidArgument',
    `The header ${name} must be a number of bytes in decimal digits; ` +
      (sent === undefined ? 'it is missing.' : `got ${quote(sent)}.`),
  );
}

/** The media type of requests with bytes of the file. */
const bytesType = 'application/offset+octet-stream';

export function requireBytesType(request: HttpRequest): void {
  const sent = header(request, 'content-type');
  if (sent === bytesType) return;
  throw new Refusal(
    'UnsupportedMediaType',
    `The header Content-Type must be ${bytesType}; ` +
      (sent === undefined ? 'it is missing.' : `got ${quote(sent)}.`),
  );
}

const digests = { sha1, sha256 } as const;

/** Refuses with 460 unless the body has the digest of Upload-Checksum, if it is sent. */
export function requireChecksum(request: HttpRequest): void {
  const sent = singleHeader(request, 'upload-checksum');
  if (sent === undefined) return;
  const [, name, base64 = ''] = /^(sha1|sha256) ([A-Za-z0-9+/=]{1,64})$/.exec(sent) ?? [];
  const declared = decodeBase64(base64);
  if ((name !== 'sha1' && name !== 'sha256') || declared === undefined) {
    throw new Refusal(
      'InvalidArgument',
      'The header Upload-Checksum must be sha1 or sha256, a space, and the digest in base64; ' +
        `got ${quote(sent)}.`,
    );
  }
  if (bytesEqual(digests[name](request.body), declared)) return;
  throw new Refusal(
    'ChecksumMismatch',
    `The bytes do not have the ${name} of Upload-Checksum: send them again.`,
  );
}

const metadataLengthMax = 4_096;
const usedNames = ['path', 'relativePath', 'filename', 'name', 'filetype', 'type', 'tags'] as const;
type UsedName = (typeof usedNames)[number];

export interface TusMetadata {
  /** The path in the bucket; '' if absent. */
  readonly path: string;
  /** The name of the file at the sender, in a folder if it was chosen with one; '' if absent. */
  readonly name: string;
  readonly contentType: string | undefined;
  readonly tags: readonly string[];
  /** The field as sent. */
  readonly sent: string;
}

/**
 * Reads Upload-Metadata. Widgets of browsers send no `path`, but `relativePath`, `filename` or
 * `name`. Other names are returned to the client, but not stored with the file.
 */
export function readTusMetadata(request: HttpRequest): TusMetadata {
  const sent = header(request, 'upload-metadata') ?? '';
  if (sent.length > metadataLengthMax) {
    throw new Refusal(
      'InvalidArgument',
      `The header Upload-Metadata has at most ${metadataLengthMax} characters; got ${sent.length}.`,
      { limit: metadataLengthMax },
    );
  }
  // A session's record has NULs between its texts, and HEAD returns the field
  if (!/^[ -~]*$/.test(sent)) {
    throw new Refusal(
      'InvalidArgument',
      'Upload-Metadata has characters other than visible ASCII.',
    );
  }
  const found = readPairs(sent);
  const type = found.filetype || found.type || undefined;
  const name = relativePath(found) || found.filename || found.name || '';
  return {
    path: found.path ?? '',
    name,
    contentType: type,
    tags: (found.tags ?? '').split(','),
    sent,
  };
}

/** Widgets send the text "null" for a file that was chosen without its folder. */
function relativePath({ relativePath: path }: Partial<Record<UsedName, string>>): string {
  return path === undefined || path === 'null' ? '' : path;
}

function readPairs(sent: string): Partial<Record<UsedName, string>> {
  const found: Partial<Record<UsedName, string>> = {};
  for (const pair of sent.split(',')) {
    const [key = '', base64 = ''] = pair.trim().split(' ');
    const name = usedNames.find((used) => used === key);
    if (name === undefined) continue;
    const bytes = decodeBase64(base64);
    const value = bytes && decodeUtf8(bytes);
    if (value === undefined) {
      throw new Refusal(
        'InvalidArgument',
        `Upload-Metadata has a value of ${name} that is not UTF-8 in base64: ${quote(base64)}.`,
      );
    }
    found[name] = value;
  }
  return found;
}

/** Returns the fields that describe the progress of an upload. */
export function progressFields(session: UploadSession): Header[] {
  const expires: Header[] =
    session.status === 'active' ? [['Upload-Expires', formatHttpDate(expiresAtNs(session))]] : [];
  return [['Upload-Offset', String(session.uploadedSize)], ...expires];
}
