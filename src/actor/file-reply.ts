// Updates that answer a file's record, which is encoded by hand, see file-record-messages.ts.

import type { IDL } from '@dfinity/candid';
import { msgReply } from 'azle';
import { type FileRecord, partsOfFile } from '../domain/files/files.ts';
import { answer } from './call.ts';
import { encodeFileResult } from './file-record-messages.ts';
import { decodeArguments } from './method.ts';
import { onceReady } from './runtime.ts';

/** Decodes the argument of the method, and replies with the file that `change` makes of it. */
export function replyFile<T>(
  signature: { readonly name: string; readonly parameters: IDL.Type[] },
  change: (argument: T) => FileRecord,
): void | Promise<void> {
  const decoded = decodeArguments(signature);
  if (decoded === undefined) return;
  const [argument] = decoded as [T];
  return onceReady(() => {
    msgReply(encodeFileResult(answer(() => partsOfFile(change(argument)))));
  });
}
