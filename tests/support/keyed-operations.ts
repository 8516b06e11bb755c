// Every operation that takes an API key and names a file, prefix or upload: actor methods with
// their values, routes with their requests. tests/acceptance/key-prefix.test.ts checks that no
// operation is missing, so a new one needs a row.

import { createHash } from 'node:crypto';
import { formBody } from './forms.ts';

/** The bucket and the arguments with which an operation is tested. */
export interface Spot {
  readonly bucket: string;
  readonly key: string;
  /** The file, session or prefix of the operation. */
  readonly path: string;
  readonly uploadId: string;
  /** A file on which the key has all rights; `fresh` is a free path. */
  readonly own: string;
  readonly fresh: string;
}

/**
 * An actor method's arguments. Optional ones are plain values, or omitted if absent; a record only
 * has the fields that are not optional.
 */
export interface ActorRow {
  readonly method: string;
  readonly values: (spot: Spot) => readonly unknown[];
}

export interface HttpRow {
  readonly method: string;
  readonly url: (spot: Spot) => string;
  readonly body?: (spot: Spot) => Uint8Array | string;
  readonly type?: string;
  readonly headers?: (spot: Spot) => Readonly<Record<string, string>>;
}

const bytes = Uint8Array.of(65);
const file = { contentType: 'text/plain', bytes };
const boundary = 'part';
/** A thumbnail of a file that contains `B`. */
export const pictureOf = {
  etag: createHash('sha256').update('B').digest('hex'),
  bytes: Buffer.from('RIFF....WEBP'),
};

type Fields = (spot: Spot) => object;

function rows(method: string, ...values: ActorRow['values'][]): ActorRow[] {
  return values.map((each) => ({ method, values: each }));
}

/** Returns rows for a method that takes one record; the bucket and the key are filled in. */
function records(method: string, ...fields: Fields[]): ActorRow[] {
  return fields.map((each) => ({
    method,
    values: (spot) => [{ bucketId: spot.bucket, apiKey: spot.key, ...each(spot) }],
  }));
}

const ofPath: Fields = ({ path }) => ({ path });
const ofPrefix: Fields = ({ path }) => ({ prefix: path });
const fromPath: Fields = ({ path, fresh }) => ({ from: path, to: fresh });
const toPath: Fields = ({ path, own }) => ({ from: own, to: path });
const fromPrefix: Fields = ({ path, fresh }) => ({ fromPrefix: path, toPrefix: fresh });
const toPrefix: Fields = ({ path, own }) => ({ fromPrefix: own, toPrefix: path });
const switchDeletes: Fields = ({ path, own, fresh }) => ({
  fromPrefix: `${own}/x/`,
  toPrefix: fresh,
  deletes: [path],
});

export const actorRows: readonly ActorRow[] = [
  ...rows('getFile', ({ bucket, path, key }) => [bucket, path, key]),
  ...rows('getCertifiedFile', ({ bucket, path, key }) => [bucket, path, 1n, key]),
  ...rows('readFile', ({ bucket, path, key }) => [bucket, path, 0n, 1n, key]),
  ...rows('readFiles', ({ bucket, path, key }) => [bucket, [path], key]),
  ...rows('getVersion', ({ bucket, path, key }) => [bucket, path, 1n, key]),
  ...rows('readVersion', ({ bucket, path, key }) => [bucket, path, 1n, 0n, 1n, key]),
  ...rows('getUsage', ({ bucket, path, key }) => [bucket, path, key]),
  ...records('listFiles', ofPrefix),
  ...records('listFolder', ofPrefix),
  ...records('listVersions', ofPath, ofPrefix),
  ...rows('beginFileUpload', ({ bucket, path, key }) => [bucket, path, 'a/b', 1n, key]),
  ...records('beginFileUploadWith', ofPath),
  ...records('startUpload', ofPath),
  ...rows('uploadChunk', ({ bucket, path, key }) => [
    { bucketId: bucket, path, apiKey: key, size: 1n, chunkSize: 65_536n, token: path },
    0n,
    undefined,
    bytes,
  ]),
  ...rows('completeFileUpload', ({ uploadId, key }) => [uploadId, key]),
  ...rows('completeFileUploadWith', ({ uploadId, key }) => [{ uploadId, apiKey: key }]),
  ...records('uploadFile', ({ path }) => ({ ...file, path })),
  ...records('uploadFiles', ({ path }) => ({ files: [{ bytes, path }] })),
  ...rows('deleteFile', ({ bucket, path, key }) => [bucket, path, key]),
  ...records('deleteFiles', ({ path }) => ({ paths: [path] }), ofPrefix),
  ...records('copyFile', fromPath, toPath),
  ...records('moveFile', fromPath, toPath),
  ...records('moveFiles', fromPrefix, toPrefix),
  ...records('switchFiles', fromPrefix, toPrefix, switchDeletes),
  ...records('restoreVersion', ({ path }) => ({ path, version: 1n })),
  ...records('eraseVersions', ofPath, ofPrefix),
  ...records('setRetention', ofPath),
  ...records('setHold', ({ path }) => ({ path, hold: false })),
  ...rows('readThumbnails', ({ bucket, path, key }) => [bucket, [path], key]),
  ...records('putThumbnail', ({ path }) => ({ path, ...pictureOf })),
  ...records('createLink', ofPath),
  ...records('listLinks', ofPath),
  ...records('createUploadLink', ofPath, ofPrefix),
  ...records('updateFile', ({ path }) => ({ path, tags: ['t'] })),
];

/** Methods that concern a whole bucket, each with a test of its own. */
export const wholeMethods: readonly string[] = [
  'getBucket',
  'getBucketMode',
  'getRules',
  'readJournal',
  'listUploads',
  'deleteLink',
  'listUploadLinks',
  'deleteUploadLink',
];
export const wholeRoutes: readonly string[] = [
  'GET upload',
  'HEAD upload',
  'GET rules',
  'HEAD rules',
  'GET journal',
  'HEAD journal',
  'GET end-to-end',
  'HEAD end-to-end',
  'DELETE links/x',
  'GET upload-links',
  'HEAD upload-links',
  'DELETE upload-links/x',
];

const query = (name: string, rest = '') => {
  return ({ path }: Spot) => `${name}=${encodeURIComponent(path)}${rest}`;
};
const api = (tail: (spot: Spot) => string) => {
  return (spot: Spot) => `/api/v1/bucket/${spot.bucket}/${tail(spot)}`;
};

function reads(tail: (spot: Spot) => string): HttpRow[] {
  return ['GET', 'HEAD'].map((method) => ({ method, url: api(tail) }));
}

function posts(tail: string, ...bodies: Fields[]): HttpRow[] {
  return bodies.map((body) => ({
    method: 'POST',
    url: api(() => tail),
    body: (spot) => JSON.stringify(body(spot)),
  }));
}

const cloud = ({ bucket, path }: Spot) => `/cloud/${bucket}/${path}`;
const files = api(({ path }) => `files/${path}`);
const session = (tail: string) => api(({ uploadId }) => `upload/${uploadId}${tail}`);
const fromPathOnly: Fields = ({ path, fresh }) => ({ from: path, to: { path: fresh } });
const toPathOnly: Fields = ({ path, own }) => ({ from: own, to: { path } });

const tusBucket = ({ bucket }: Spot) => `/api/v1/tus/${bucket}`;
const tusUpload = ({ bucket, uploadId }: Spot) => `/api/v1/tus/${bucket}/${uploadId}`;
const tusVersion = { 'Tus-Resumable': '1.0.0' };
const creationFields = ({ path }: Spot) => ({
  ...tusVersion,
  'Upload-Length': '1',
  'Upload-Metadata': `path ${Buffer.from(path).toString('base64')}`,
});

export const httpRows: readonly HttpRow[] = [
  { method: 'GET', url: cloud },
  { method: 'HEAD', url: cloud },
  ...reads((spot) => `files?${query('prefix')(spot)}`),
  ...reads((spot) => `files?${query('prefix', '&delimiter=/')(spot)}`),
  ...reads((spot) => `versions?${query('path')(spot)}`),
  ...reads((spot) => `versions?${query('prefix')(spot)}`),
  ...reads(({ path }) => `versions/${path}?version=1`),
  ...reads(({ path }) => `files/${path}?version=1`),
  ...reads((spot) => `links?${query('path')(spot)}`),
  ...posts('links', ofPath),
  ...posts('upload-links', ofPath, ofPrefix),
  ...reads((spot) => `usage?${query('prefix')(spot)}`),
  ...reads(({ path }) => `files/${path}`),
  ...reads(({ uploadId }) => `upload/${uploadId}`),
  { method: 'PUT', url: files, body: () => 'put', type: 'text/plain' },
  ...reads(({ path }) => `thumbnails/${path}`),
  {
    method: 'PUT',
    url: api(({ path }) => `thumbnails/${path}`),
    body: () => pictureOf.bytes,
    headers: () => ({ 'If-Match': `"${pictureOf.etag}"` }),
  },
  { method: 'PATCH', url: files, body: () => '{"tags":["t"]}' },
  { method: 'DELETE', url: files },
  {
    method: 'POST',
    url: api(() => 'files'),
    body: ({ path }) => formBody([{ name: path, text: 'posted' }], boundary),
    type: `multipart/form-data; boundary=${boundary}`,
  },
  ...posts('read', ({ path }) => ({ paths: [path] })),
  ...posts('thumbnails', ({ path }) => ({ paths: [path] })),
  ...posts('delete', ({ path }) => ({ paths: [path] }), ofPrefix),
  { method: 'DELETE', url: api(({ path }) => `versions/${path}`) },
  { method: 'DELETE', url: api((spot) => `versions?${query('prefix')(spot)}`) },
  ...posts('restore', ({ path }) => ({ path, version: 1 })),
  ...posts('retention', ofPath),
  ...posts('hold', ({ path }) => ({ path, hold: false })),
  ...posts('copy', fromPathOnly, toPathOnly),
  ...posts('move', fromPathOnly, toPathOnly, fromPrefix, toPrefix),
  ...posts('switch', fromPrefix, toPrefix, switchDeletes),
  ...posts('upload/start', ({ path }) => ({ path, size: 1 })),
  { method: 'PUT', url: session('/chunk/0'), body: () => 'x' },
  { method: 'POST', url: session('/complete') },
  { method: 'DELETE', url: session('') },
  { method: 'POST', url: tusBucket, headers: creationFields },
  { method: 'HEAD', url: tusUpload, headers: () => tusVersion },
  {
    method: 'PATCH',
    url: tusUpload,
    body: () => 'x',
    type: 'application/offset+octet-stream',
    headers: () => ({ ...tusVersion, 'Upload-Offset': '0' }),
  },
  { method: 'DELETE', url: tusUpload, headers: () => tusVersion },
];
