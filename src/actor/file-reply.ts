// Updates that answer a file's record, which is encoded by hand, see file-record-messages.ts.

import type { IDL } from '@dfinity/candid';
import { type FileRecord, partsOfFile } from '../domain/files/files.ts';
import { encodeFileResult } from './file-record-messages.ts';
import { carryOut } from './method.ts';

/** Decodes the argument of the method, and replies with the file that `change` makes of it. */
export function replyFile<T>(
  signature: { readonly name: string; readonly parameters: IDL.Type[] },
  change: (argument: T) => FileRecord,
): void | Promise<void> {
  const run = ([argument]: [T]) => partsOfFile(change(argument));
  return carryOut(signature, { run, encode: encodeFileResult });
}
