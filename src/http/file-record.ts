// The answer to an upload that has made a file.

import { entityTag, fileUrl, fileView } from '../domain/files/file-view.ts';
import type { FileRecord } from '../domain/files/files.ts';
import type { Header, HttpResponse } from './message.ts';
import { jsonResponse } from './respond.ts';

/** 201 for a new file, 200 for a replaced one. */
export function storedResponse(file: FileRecord, isNew: boolean): HttpResponse {
  const response = jsonResponse(isNew ? 201 : 200, fileView(file));
  const headers: Header[] = [
    ...response.headers,
    ['Location', fileUrl(file)],
    ['ETag', entityTag(file)],
    ['Cache-Control', 'private, no-store'],
  ];
  return { ...response, headers };
}
