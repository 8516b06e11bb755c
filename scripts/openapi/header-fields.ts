// Header fields of requests and responses, by name.

import { storedHeaderLengthMax } from '../../src/limits.ts';

interface HeaderField {
  /** Absent if the section of each operation in http.md has a row for the field. */
  readonly says?: string;
  readonly schema: object;
}

const text = { type: 'string' };
const stored = { schema: { type: 'string', maxLength: storedHeaderLengthMax } };
const tags = { type: 'string', examples: ['"2cf24dba5fb0a30e26e83b2ac5b9e29e"', '*'] };
const date = { type: 'string', examples: ['Sat, 31 Jan 2026 12:00:00 GMT'] };
const digest = {
  type: 'string',
  examples: ['sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'],
};

const decimal = { type: 'string', pattern: '^[0-9]+$' };

export const requestHeaders = {
  'X-Bucket-Id': {
    says: 'The bucket of the path; required with a key for several buckets.',
    schema: text,
  },
  'Cache-Control': stored,
  'Content-Disposition': stored,
  'Content-Encoding': stored,
  'Content-Language': stored,
  'X-File-Tags': { schema: text },
  'X-File-Metadata': { schema: { type: 'string', examples: ['{"camera":"X100"}'] } },
  'If-Match': {
    says: 'Entity tags, one of which the file must have, or `*` for any file: else 412.',
    schema: tags,
  },
  'If-None-Match': {
    says:
      'Entity tags, none of which the file may have, or `*` for no file: else 304 for GET and HEAD, ' +
      'and 412 for writes.',
    schema: tags,
  },
  'If-Modified-Since': { says: 'If the file has not changed since: 304.', schema: date },
  'If-Unmodified-Since': { says: 'If the file has changed since: 412.', schema: date },
  'If-Range': {
    says: 'An entity tag or a date; if the file has another one, `Range` is ignored.',
    schema: text,
  },
  Range: {
    says: 'One range of bytes. Several ranges, or malformed ones, are ignored.',
    schema: { type: 'string', examples: ['bytes=0-65535'] },
  },
  Prefer: {
    says: '`part`: the response to `bytes=N-` may end with the chunk that begins at N (RFC 7240).',
    schema: { type: 'string', examples: ['part'] },
  },
  'Content-Digest': { says: 'SHA-256 of the body, verified (RFC 9530).', schema: digest },
  'Repr-Digest': { says: 'SHA-256 of the body, verified (RFC 9530).', schema: digest },
  'Tus-Resumable': {
    says: 'The version of the protocol: else 412.',
    schema: { const: '1.0.0' },
  },
  'Upload-Length': { schema: decimal },
  'Upload-Offset': { schema: decimal },
  'Upload-Metadata': { schema: { type: 'string', examples: ['path ZG9jcy9hLnR4dA=='] } },
  'Upload-Checksum': {
    says: 'SHA-1 or SHA-256 of the body in base64, verified: else 460.',
    schema: { type: 'string', examples: ['sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0='] },
  },
} as const satisfies Readonly<Record<string, HeaderField>>;

export type RequestHeader = keyof typeof requestHeaders;

export const responseHeaders = {
  'X-Request-Id': { says: 'Identifies the request; also in the body of errors.', schema: text },
  ETag: { says: 'The entity tag of the file.', schema: text },
  'Last-Modified': { says: 'When the file was last changed.', schema: text },
  'Cache-Control': {
    says: 'Whether caches may store the response.',
    schema: { type: 'string', examples: ['private, no-store'] },
  },
  'Accept-Ranges': { says: 'Ranges are supported.', schema: { const: 'bytes' } },
  'Content-Range': {
    says: 'The range of the body; with 416 the size of the file.',
    schema: { type: 'string', examples: ['bytes 0-65535/3800000'] },
  },
  'Content-Length': { says: 'The length of the body of GET.', schema: text },
  'Content-Disposition': {
    says: "The file's stored header field, or a link's download name.",
    schema: text,
  },
  'Content-Encoding': { says: 'As stored with the file.', schema: text },
  'Content-Language': { says: 'As stored with the file.', schema: text },
  'Content-Security-Policy': {
    says: 'Sandboxes a file of a type that can run scripts.',
    schema: text,
  },
  'X-Content-Type-Options': {
    says: 'Browsers do not guess another type.',
    schema: { const: 'nosniff' },
  },
  'Referrer-Policy': {
    says: 'Pages that the file links to do not learn its address.',
    schema: { const: 'no-referrer' },
  },
  'X-Robots-Tag': {
    says: 'Search engines leave the file out.',
    schema: { const: 'noindex' },
  },
  Vary: { says: 'Header fields of the request that the response depends on.', schema: text },
  'Cross-Origin-Opener-Policy': {
    says: "Isolates the console's page from other windows.",
    schema: text,
  },
  'Content-Location': { says: 'The address of the stored file.', schema: text },
  'Tus-Resumable': { says: 'The version of the protocol.', schema: { const: '1.0.0' } },
  'Tus-Version': { says: 'The supported versions.', schema: { const: '1.0.0' } },
  'Upload-Offset': { says: 'Bytes that have arrived.', schema: decimal },
  'Upload-Length': { says: 'Bytes of the whole file.', schema: decimal },
  'Upload-Metadata': { says: 'As it was sent.', schema: text },
  'Upload-Expires': { says: 'When the upload expires, until it is complete.', schema: text },
  Location: { says: 'Path of the stored file, the session or the folder.', schema: text },
  'Retry-After': {
    says: 'Seconds after which to repeat the request.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'WWW-Authenticate': {
    says: 'How to authenticate.',
    schema: { type: 'string', examples: ['Bearer', 'Bearer error="invalid_token"'] },
  },
} as const satisfies Readonly<Record<string, HeaderField>>;

export type ResponseHeader = keyof typeof responseHeaders;

/** Fields of a file's response that depend on the file's stored headers and type. */
export const storedWithFiles = [
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
  'Content-Security-Policy',
] as const satisfies readonly ResponseHeader[];
