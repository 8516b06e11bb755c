// Updates that answer with a file's record, which file-record-messages.ts encodes.

import type { IDL } from '@dfinity/candid';
import { partsOfFile } from '../../domain/files/file-records.ts';
import type { WrittenFile } from '../../domain/files/written-files.ts';
import { carryOut } from '../dispatch/method.ts';
import { encodeFileResult } from '../messages/file-record-messages.ts';

/** Decodes the method's argument and replies with the record that `change` returns. */
export function replyFile<T>(
  signature: { readonly name: string; readonly parameters: IDL.Type[] },
  change: (argument: T) => WrittenFile,
): void | Promise<void> {
  const run = ([argument]: [T]) => {
    const { file, record } = change(argument);
    return partsOfFile(file, record);
  };
  return carryOut(signature, { run, encode: encodeFileResult });
}
