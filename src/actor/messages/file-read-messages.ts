// The hand-written encoder of the answer of readFiles, which carries the bytes of many files.
// Candid specification, "Binary format": fields are ordered by hash.

import type { FilesRead } from '../../domain/files/file-reads.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { ResultFilesRead } from '../candid/file-reads.ts';
import { encodeResult, headOfOk } from '../candid/result.ts';
import { errorText, type Result } from '../runtime/call.ts';
import { Draft, errTag, okTag } from './file-record-messages.ts';

const filesReadHead = headOfOk(ResultFilesRead);

export function encodeFilesRead(result: Result<FilesRead>): Uint8Array {
  if (!('ok' in result)) return encodeResult(ResultFilesRead, result);
  const { results, left } = result.ok;
  const draft = new Draft(filesReadHead);
  draft.nat(left.length);
  for (const path of left) draft.text(encodeUtf8(path));
  draft.nat(results.length);
  for (const one of results) {
    if (one instanceof Refusal) {
      draft.nat(errTag);
      draft.text(encodeUtf8(errorText(one)));
      continue;
    }
    draft.nat(okTag);
    draft.nat(one.chunkBytes);
    for (const text of [one.contentType, one.etag, one.path]) draft.text(encodeUtf8(text));
    draft.text(one.bytes);
  }
  return draft.finish();
}
