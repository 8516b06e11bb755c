// The actor method that lists a bucket's files.

import { msgReply } from 'azle';
import { readFileParts } from '../domain/files/files.ts';
import { listFiles } from '../domain/listing/listing.ts';
import { answer, currentCall } from './call.ts';
import { ListFilesRequest, ResultFileList } from './candid.ts';
import { encodeFileListResult, type FileListAnswer } from './file-record-messages.ts';
import { decodeArguments, query } from './method.ts';
import { stores } from './runtime.ts';

type Optional<T> = [] | [T];

interface ListArgument {
  bucketId: string;
  prefix: Optional<string>;
  page: Optional<bigint>;
  pageSize: Optional<bigint>;
  sort: Optional<string>;
  tag: Optional<string>;
  apiKey: Optional<string>;
}

/** Paths may be written with a leading slash here, and so may a prefix. */
function listPage(argument: ListArgument): FileListAnswer {
  const [page] = argument.page;
  const [pageSize] = argument.pageSize;
  const list = listFiles(stores, currentCall(), {
    bucket: argument.bucketId,
    apiKey: argument.apiKey[0],
    prefix: argument.prefix[0]?.replace(/^\//, ''),
    page: page === undefined ? undefined : Number(page),
    pageSize: pageSize === undefined ? undefined : Number(pageSize),
    sort: argument.sort[0],
    tag: argument.tag[0],
  });
  return { list, records: readFileParts(stores, list.bucketId, list.paths) };
}

export class ListingActor {
  /** Pages and their size are whole numbers from 1 on; sizes above 50 are taken for 50. */
  @query([ListFilesRequest], ResultFileList, { manual: true })
  listFiles(): void {
    const decoded = decodeArguments({ name: 'listFiles', parameters: [ListFilesRequest] });
    if (decoded === undefined) return;
    const [argument] = decoded as [ListArgument];
    msgReply(encodeFileListResult(answer(() => listPage(argument))));
  }
}
