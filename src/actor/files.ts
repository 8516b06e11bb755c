// Actor methods over files.

import { IDL } from '@dfinity/candid';
import { msgArgData, msgReply, query, update } from 'azle';
import { deleteFile, getFile, readFilePart } from '../domain/file-access.ts';
import { fileView } from '../domain/file-view.ts';
import type { FileRecord as StoredFile } from '../domain/files.ts';
import { uploadByCall } from '../domain/single-upload.ts';
import { answer, currentCall } from './call.ts';
import { FileUpload, Result, ResultBytes, ResultFile, ResultNull } from './candid.ts';
import { decodeFileUpload, encodeBytesResult } from './file-messages.ts';
import { stores } from './runtime.ts';

type Optional<T> = [] | [T];

/** As Candid's FileRecord: the record of the JSON interface with times in nanoseconds. */
export function fileRecordView(file: StoredFile) {
  const view = fileView(file);
  return {
    ...view,
    sha256: view.sha256 === undefined ? [] : [view.sha256],
    createdAt: file.createdAtNs,
    updatedAt: file.updatedAtNs,
  };
}

type ReadArguments = [string, string, bigint, bigint, Optional<string>];
const readArguments = [IDL.Text, IDL.Text, IDL.Nat, IDL.Nat, IDL.Opt(IDL.Text)];

export class FilesActor {
  /** At most 1,900,000 bytes; ok is the file's id. Decoded by hand, see file-messages.ts. */
  @update([FileUpload], Result, { manual: true })
  uploadFile(): void {
    const result = answer(() => {
      const upload = decodeFileUpload(msgArgData());
      return uploadByCall(stores, currentCall(), upload).id;
    });
    msgReply(IDL.encode([Result], [result]));
  }

  @query([IDL.Text, IDL.Text, IDL.Opt(IDL.Text)], ResultFile)
  getFile(bucket: string, path: string, [apiKey]: Optional<string>) {
    return answer(() => fileRecordView(getFile(stores, currentCall(), { bucket, path, apiKey })));
  }

  /** Offset and length are bytes, at most 1,900,000 a call. Encoded by hand. */
  @query(readArguments, ResultBytes, { manual: true })
  readFile(): void {
    const decoded = IDL.decode(readArguments, msgArgData());
    const [bucket, path, offset, length, [apiKey]] = decoded as unknown as ReadArguments;
    const request = { bucket, path, offset, length, apiKey };
    msgReply(encodeBytesResult(answer(() => readFilePart(stores, currentCall(), request))));
  }

  @update([IDL.Text, IDL.Text, IDL.Opt(IDL.Text)], ResultNull)
  deleteFile(bucket: string, path: string, [apiKey]: Optional<string>) {
    return answer(() => {
      deleteFile(stores, currentCall(), { bucket, path, apiKey, conditions: {} });
      return null;
    });
  }
}
