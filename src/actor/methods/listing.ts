// The actor methods that list a bucket's files and count those below a prefix.

import { IDL } from '@dfinity/candid';
import { msgReply } from 'azle';
import { getUsage } from '../../domain/administration/bucket-usage.ts';
import { readFileParts } from '../../domain/files/file-records.ts';
import { readPartsPage } from '../../domain/files/folder-page.ts';
import { listFolder } from '../../domain/listing/folder-listing.ts';
import { listFiles } from '../../domain/listing/listing.ts';
import {
  ListFilesRequest,
  ListFolderRequest,
  ResultFileList,
  ResultFolderPage,
  ResultUsage,
} from '../candid/types.ts';
import { decodeArguments, query } from '../dispatch/method.ts';
import {
  encodeFileListResult,
  encodeFolderPageResult,
  type FileListAnswer,
  type FolderPageAnswer,
} from '../messages/file-record-messages.ts';
import { numberOf, type Optional, prefixOf } from '../messages/optional.ts';
import { answer, currentCall } from '../runtime/call.ts';
import { stores } from '../runtime/runtime.ts';
import { dataCertificate } from '../runtime/system.ts';

interface ListArgument {
  bucketId: string;
  prefix: Optional<string>;
  page: Optional<bigint>;
  pageSize: Optional<bigint>;
  sort: Optional<string>;
  tag: Optional<string>;
  apiKey: Optional<string>;
}

interface FolderArgument {
  bucketId: string;
  prefix: Optional<string>;
  delimiter: Optional<string>;
  cursor: Optional<string>;
  limit: Optional<bigint>;
  sort: Optional<string>;
  tag: Optional<string>;
  apiKey: Optional<string>;
  startAfter: Optional<string>;
}

/** False if another canister calls the query as an update. */
const isQuery = () => dataCertificate() !== undefined;

function listPage(argument: ListArgument): FileListAnswer {
  const list = listFiles(stores, currentCall(), {
    bucket: argument.bucketId,
    apiKey: argument.apiKey[0],
    isQuery: isQuery(),
    prefix: prefixOf(argument.prefix),
    page: numberOf(argument.page),
    pageSize: numberOf(argument.pageSize),
    sort: argument.sort[0],
    tag: argument.tag[0],
  });
  return { list, records: readFileParts(stores, list.bucketId, list.paths) };
}

function folderPage(argument: FolderArgument): FolderPageAnswer {
  const list = listFolder(stores, currentCall(), {
    bucket: argument.bucketId,
    apiKey: argument.apiKey[0],
    isQuery: isQuery(),
    prefix: prefixOf(argument.prefix),
    delimiter: argument.delimiter[0],
    cursor: argument.cursor[0],
    startAfter: argument.startAfter[0],
    limit: numberOf(argument.limit),
    sort: argument.sort[0],
    tag: argument.tag[0],
  });
  return { list, page: readPartsPage(stores, list) };
}

const usageArguments = [IDL.Text, IDL.Opt(IDL.Text), IDL.Opt(IDL.Text)];

/**
 * Lists of files: by pages, or by folders and cursors. Everybody may list a bucket with `isListed`,
 * without a key and by queries.
 */
export class ListingActor {
  /** Lists files by pages, numbered from 1. A page size above 50 counts as 50. */
  @query([ListFilesRequest], ResultFileList, { manual: true })
  listFiles(): void {
    const decoded = decodeArguments({ name: 'listFiles', parameters: [ListFilesRequest] });
    if (decoded === undefined) return;
    const [argument] = decoded as [ListArgument];
    msgReply(encodeFileListResult(answer(() => listPage(argument))));
  }

  /**
   * With the delimiter `/`, lists the files and folders directly below a prefix; without it, all
   * files below the prefix. Continue with the `nextCursor` of the previous page.
   */
  @query([ListFolderRequest], ResultFolderPage, { manual: true })
  listFolder(): void {
    const decoded = decodeArguments({ name: 'listFolder', parameters: [ListFolderRequest] });
    if (decoded === undefined) return;
    const [argument] = decoded as [FolderArgument];
    msgReply(encodeFolderPageResult(answer(() => folderPage(argument))));
  }

  /** (bucketId, prefix, apiKey) Counts files and their bytes below a prefix, or in the bucket. */
  @query(usageArguments, ResultUsage)
  getUsage(bucket: string, prefix: Optional<string>, [apiKey]: Optional<string>) {
    return answer(() => {
      const request = { bucket, apiKey, prefix: prefixOf(prefix) };
      const { files, bytes } = getUsage(stores, currentCall(), request);
      return { files, bytes };
    });
  }
}
