// Updates that answer a file's record, which is encoded by hand, see file-record-messages.ts.

import type { IDL } from '@dfinity/candid';
import { partsOfFile } from '../../domain/files/file-records.ts';
import type { WrittenFile } from '../../domain/files/written-files.ts';
import { carryOut } from '../dispatch/method.ts';
import { encodeFileResult } from '../messages/file-record-messages.ts';

/** Decodes the method's argument, and replies with what `change` shows of the file it writes. */
export function replyFile<T>(
  signature: { readonly name: string; readonly parameters: IDL.Type[] },
  change: (argument: T) => WrittenFile,
): void | Promise<void> {
  const run = ([argument]: [T]) => partsOfFile(change(argument).file);
  return carryOut(signature, { run, encode: encodeFileResult });
}
