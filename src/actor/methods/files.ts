// Actor methods for files.

import { IDL } from '@dfinity/candid';
import { msgReply } from 'azle';
import { readFiles } from '../../domain/files/file-reads.ts';
import { partsOfFile } from '../../domain/files/file-records.ts';
import { deleteFile, getFile, readFilePart } from '../../domain/files/files.ts';
import { getVersion } from '../../domain/files/versions.ts';
import { uploadByCall } from '../../domain/uploads/single-upload.ts';
import { ResultFilesRead } from '../candid/file-reads.ts';
import { encodeResult } from '../candid/result.ts';
import { FileUpload, ResultBytes, ResultFile, ResultNull, ResultText } from '../candid/types.ts';
import { carryOut, decodeArguments, query, update } from '../dispatch/method.ts';
import { decodeFileUpload, encodeBytesResult } from '../messages/file-messages.ts';
import { encodeFilesRead } from '../messages/file-read-messages.ts';
import { encodeFileResult } from '../messages/file-record-messages.ts';
import { replyBytes } from '../messages/native-reply.ts';
import { numberOf, type Optional } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';

const fileArguments = [IDL.Text, IDL.Text, IDL.Opt(IDL.Text)];
type ReadArguments = [string, string, bigint, bigint, Optional<string>];
const readArguments = [IDL.Text, IDL.Text, IDL.Nat, IDL.Nat, IDL.Opt(IDL.Text)];
type ReadFilesArguments = [string, readonly string[], Optional<string>];
const readFilesArguments = [IDL.Text, IDL.Vec(IDL.Text), IDL.Opt(IDL.Text)];
type CertifiedArguments = [string, string, Optional<bigint>, Optional<string>];
const certifiedArguments = [IDL.Text, IDL.Text, IDL.Opt(IDL.Nat), IDL.Opt(IDL.Text)];

/** Files: one call stores or reads one file. */
export class FilesActor {
  /**
   * Stores a whole file of at most 1,900,000 bytes; ok is its id. Errors: AccessDenied,
   * InvalidPath, QuotaExceeded, PreconditionFailed, BadDigest.
   */
  @update([FileUpload], ResultText, { manual: true })
  uploadFile(): void | Promise<void> {
    const signature = { name: 'uploadFile', parameters: [FileUpload] };
    return carryOut(signature, {
      decode: decodeFileUpload,
      run: (upload) => uploadByCall(stores, currentCall(), upload).id,
      encode: (result) => encodeResult(ResultText, result),
    });
  }

  /** (bucketId, path, apiKey) Returns the record of a file. Errors: AccessDenied, NoSuchFile. */
  @query(fileArguments, ResultFile, { manual: true })
  getFile(): void {
    const decoded = decodeArguments({ name: 'getFile', parameters: fileArguments });
    if (decoded === undefined) return;
    const [bucket, path, [apiKey]] = decoded as unknown as [string, string, Optional<string>];
    const read = () => partsOfFile(getFile(stores, currentCall(), { bucket, path, apiKey }));
    msgReply(encodeFileResult(answer(read)));
  }

  /**
   * (bucketId, path, version, apiKey) Returns the record of a file, or of one of its versions. An
   * update, so that the network signs it: a single node answers getFile. For members, and for keys
   * that may read. Errors: AccessDenied, NoSuchFile, SlowDown.
   */
  @update(certifiedArguments, ResultFile, { manual: true })
  getCertifiedFile(): void | Promise<void> {
    const signature = { name: 'getCertifiedFile', parameters: certifiedArguments };
    return carryOut(signature, {
      run: ([bucket, path, version, [apiKey]]: CertifiedArguments) => {
        const request = { bucket, path, version: numberOf(version), apiKey };
        return partsOfFile(getVersion(stores, currentCall(), request));
      },
      encode: encodeFileResult,
    });
  }

  /** (bucketId, path, offset, length, apiKey) Returns bytes of a file, at most 1,900,000. */
  @query(readArguments, ResultBytes, { manual: true })
  readFile(): void {
    const decoded = decodeArguments({ name: 'readFile', parameters: readArguments });
    if (decoded === undefined) return;
    const [bucket, path, offset, length, [apiKey]] = decoded as unknown as ReadArguments;
    const request = { bucket, path, offset, length, apiKey };
    const read = () => readFilePart(stores, currentCall(), request);
    replyBytes(...encodeBytesResult(answer(read)));
  }

  /**
   * (bucketId, paths, apiKey) Returns at most 200 whole files, as many as fit into 1,900,000 bytes
   * with their paths; `left` names the others. A file that fits into no answer gets EntityTooLarge.
   * Errors: AccessDenied.
   */
  @query(readFilesArguments, ResultFilesRead, { manual: true })
  readFiles(): void {
    const decoded = decodeArguments({ name: 'readFiles', parameters: readFilesArguments });
    if (decoded === undefined) return;
    const [bucket, paths, [apiKey]] = decoded as unknown as ReadFilesArguments;
    const read = () => readFiles(stores, currentCall(), { bucket, paths, apiKey });
    msgReply(encodeFilesRead(answer(read)));
  }

  /** (bucketId, path, apiKey) Deletes a file. Its bucket may store it as a former version. */
  @update([IDL.Text, IDL.Text, IDL.Opt(IDL.Text)], ResultNull)
  deleteFile(bucket: string, path: string, [apiKey]: Optional<string>) {
    return answer(() => {
      deleteFile(stores, currentCall(), { bucket, path, apiKey, conditions: {} });
      return null;
    });
  }
}
