// The header fields that are stored with a file and served with it, beside its type. Records store
// the values in this order: a new name goes to the end, with a new version of the record layouts
// (src/domain/files/file-layout.ts, src/domain/uploads/upload-session.ts).

export const storedHeaderNames = [
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Language',
] as const;

export type StoredHeaderName = (typeof storedHeaderNames)[number];
