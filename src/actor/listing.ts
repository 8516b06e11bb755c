// The actor method that lists a bucket's files.

import { IDL } from '@dfinity/candid';
import { msgArgData, msgReply, query } from 'azle';
import { findFile } from '../domain/files.ts';
import { listFiles } from '../domain/listing.ts';
import { present } from '../lib/assert.ts';
import { decodeUtf8 } from '../lib/text.ts';
import { answer, currentCall } from './call.ts';
import { ListFilesRequest, ResultFileList } from './candid.ts';
import { encodeResult } from './candid-result.ts';
import { fileRecordView } from './files.ts';
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
function listPage(argument: ListArgument) {
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
  const nextPage = list.nextPage === null ? [] : [list.nextPage];
  const items = list.paths.map((path) => {
    const text = present(decodeUtf8(path), 'well-formed path of a file');
    const file = findFile(stores, list.bucketId, text);
    return fileRecordView(present(file, 'file of the index'));
  });
  return { ...list, nextPage, items };
}

export class ListingActor {
  /** Pages and their size are whole numbers from 1 on; sizes above 50 are taken for 50. */
  @query([ListFilesRequest], ResultFileList, { manual: true })
  listFiles(): void {
    const [argument] = IDL.decode([ListFilesRequest], msgArgData()) as unknown as [ListArgument];
    msgReply(
      encodeResult(
        ResultFileList,
        answer(() => listPage(argument)),
      ),
    );
  }
}
