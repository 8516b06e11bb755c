// The header fields that are stored and served with a file, besides its type. Records store the
// values in this order: append new names, and give the record layouts a new version
// (src/domain/files/file-layout.ts, src/domain/uploads/upload-session.ts).

export const storedHeaderNames = [
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
] as const;

export type StoredHeaderName = (typeof storedHeaderNames)[number];
