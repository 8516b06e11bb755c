// The answer of an operation that wrote a file.

import { jsonEnd, jsonStart } from '../domain/files/file-layout.ts';
import { entityTag, fileUrl, fileView } from '../domain/files/file-view.ts';
import type { ShownField, WrittenFile } from '../domain/files/written-files.ts';
import type { Header, HttpResponse } from './message.ts';
import { jsonField, privateJson, uncached } from './respond.ts';

type FileView = ReturnType<typeof fileView>;

const fieldsOf: Readonly<Record<ShownField, readonly (keyof FileView)[]>> = {
  content: ['size', 'chunkSize', 'etag', 'sha256'],
  contentType: ['contentType'],
  tags: ['tags'],
  metadata: ['metadata'],
  createdAt: ['createdAt'],
};

/** Returns the file record of the JSON interface without the fields that the caller may not see. */
export function writtenView({ file, hidden }: WrittenFile): Partial<FileView> {
  const left = hidden.flatMap((field) => fieldsOf[field]).map((name) => [name, undefined]);
  return { ...fileView(file), ...Object.fromEntries(left) };
}

/** Answers 201 for a new file, 200 for a replaced one. */
export function storedResponse(written: WrittenFile): HttpResponse {
  const { file, record, isNew, hidden } = written;
  const tag: Header[] = hidden.includes('content') ? [] : [['ETag', entityTag(file)]];
  const headers: Header[] = [['Location', fileUrl(file)], ...tag];
  const status = isNew ? 201 : 200;
  // The JSON of the record is what fileView() makes
  if (record === undefined) return privateJson(status, writtenView(written), headers);
  const json = record.subarray(jsonStart(record), jsonEnd(record));
  return { status, headers: [jsonField, ...headers, uncached], body: json };
}
