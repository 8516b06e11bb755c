// Hand-written encoders of the answers of listFiles, listFolder and getFile: the library takes 3.5
// M instructions per file record. Candid specification, "Binary format": fields are ordered by
// hash.

import { IDL } from '@dfinity/candid';
import type { FileParts, RetentionParts } from '../../domain/files/file-parts.ts';
import type { FilePage } from '../../domain/files/folder-page.ts';
import type { FolderList } from '../../domain/listing/folder-listing.ts';
import type { FileList } from '../../domain/listing/listing.ts';
import { concatBytes } from '../../lib/bytes.ts';
import { leb128 } from '../../lib/leb128.ts';
import { encodeUtf8 } from '../../lib/text.ts';
import { ResultChunkReceipt } from '../candid/operations.ts';
import { encodeResult, headOfOk } from '../candid/result.ts';
import {
  ResultFile,
  ResultFileList,
  ResultFiles,
  ResultFolderPage,
  Upload,
} from '../candid/types.ts';
import type { Result } from '../runtime/call.ts';

const fileHead = headOfOk(ResultFile);
const fileListHead = headOfOk(ResultFileList);
const folderPageHead = headOfOk(ResultFolderPage);
const receiptHead = headOfOk(ResultChunkReceipt);
const filesHead = headOfOk(ResultFiles);
/** Variants are ordered by hash. */
export const okTag = 0;
export const errTag = 1;

export interface FileListAnswer {
  readonly list: FileList;
  readonly records: readonly FileParts[];
}

/** Encodes the answer of `getFile`. */
export function encodeFileResult(result: Result<FileParts>): Uint8Array {
  if (!('ok' in result)) {
    return encodeResult(ResultFile, result);
  }
  const draft = new Draft(fileHead);
  draft.record(result.ok);
  return draft.finish();
}

export interface ReceiptAnswer {
  /** Fields of the Candid record `Upload`. */
  readonly upload: object;
  readonly file: FileParts | undefined;
}

/** Encodes the answer of `uploadChunk`. */
export function encodeReceiptResult(result: Result<ReceiptAnswer>): Uint8Array {
  if (!('ok' in result)) {
    return encodeResult(ResultChunkReceipt, result);
  }
  const { upload, file } = result.ok;
  const draft = new Draft(receiptHead);
  draft.nat(file === undefined ? 0 : 1);
  if (file !== undefined) draft.record(file);
  draft.value(new Uint8Array(Upload.encodeValue(upload)));
  return draft.finish();
}

/** Encodes the answer of `listFiles`. */
export function encodeFileListResult(result: Result<FileListAnswer>): Uint8Array {
  if (!('ok' in result)) {
    return encodeResult(ResultFileList, result);
  }
  const { list, records } = result.ok;
  const draft = new Draft(fileListHead);
  draft.nat(list.total);
  draft.nat(list.hasMore ? 1 : 0);
  draft.nat(list.page);
  draft.text(encodeUtf8(list.sort));
  draft.nat(list.pageSize);
  draft.text(encodeUtf8(list.prefix));
  draft.nat(list.pages);
  draft.nat(records.length);
  for (const record of records) {
    draft.record(record);
  }
  draft.nat(list.nextPage === null ? 0 : 1);
  if (list.nextPage !== null) {
    draft.nat(list.nextPage);
  }
  return draft.finish();
}

export interface FolderPageAnswer {
  readonly list: FolderList;
  readonly page: FilePage<readonly FileParts[]>;
}

/** Encodes the answer of `listFolder`. */
export function encodeFolderPageResult(result: Result<FolderPageAnswer>): Uint8Array {
  if (!('ok' in result)) {
    return encodeResult(ResultFolderPage, result);
  }
  const { list, page } = result.ok;
  const draft = new Draft(folderPageHead);
  draft.nat(page.folders.length);
  for (const path of page.folders) {
    draft.text(path);
  }
  draft.text(encodeUtf8(list.delimiter));
  draft.text(encodeUtf8(list.prefix));
  draft.nat(page.items.length);
  for (const record of page.items) {
    draft.record(record);
  }
  draft.nat(page.nextCursor === null ? 0 : 1);
  if (page.nextCursor !== null) {
    draft.text(encodeUtf8(page.nextCursor));
  }
  return draft.finish();
}

/** Encodes the answer of `uploadFiles`. */
export function encodeFilesResult(result: Result<readonly Result<FileParts>[]>): Uint8Array {
  if (!('ok' in result)) {
    return encodeResult(ResultFiles, result);
  }
  const draft = new Draft(filesHead);
  draft.nat(result.ok.length);
  for (const one of result.ok) {
    draft.nat('ok' in one ? okTag : errTag);
    if ('ok' in one) draft.record(one.ok);
    else draft.text(encodeUtf8(one.err));
  }
  return draft.finish();
}

/** Maximum bytes of a record's numbers and lengths. */
const recordRestMax = 128;
const lengthMax = 10;

/** A message under construction. */
export class Draft {
  #bytes: Uint8Array = new Uint8Array(16_384);
  #end = 0;

  constructor(head: Uint8Array) {
    this.#put(head);
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#end);
  }

  nat(value: number): void {
    this.#put(leb128(value));
  }

  text(bytes: Uint8Array): void {
    this.nat(bytes.length);
    this.#put(bytes);
  }

  /** Adds an encoded value. */
  value(bytes: Uint8Array): void {
    this.#put(bytes);
  }

  record(record: FileParts): void {
    const { id, url, etag, contentType, name, path, tags, bucketId, metadata } = record;
    const texts = id.length + url.length + 2 * etag.length + contentType.length + name.length;
    let notes = 0;
    for (const text of metadata) notes += text.length + lengthMax;
    this.#reserve(texts + notes + path.length + bucketId.length + recordRestMax);
    const created = timeBytes(record.createdAtNs);
    const isSame = record.createdAtNs === record.updatedAtNs;
    let end = this.#end;
    end = this.#lengthAndText(end, id);
    end = this.#lengthAndText(end, url);
    this.#bytes[end++] = record.isDigest ? 1 : 0;
    if (record.isDigest) {
      end = this.#lengthAndText(end, etag);
    }
    end = this.#lengthAndText(end, contentType);
    end = this.#number(end, metadata.length / 2);
    for (const text of metadata) {
      end = this.#lengthAndText(end, text);
    }
    end = this.#lengthAndText(end, etag);
    end = this.#lengthAndText(end, name);
    this.#bytes.set(created, end);
    end = this.#lengthAndText(end + created.length, path);
    end = this.#number(end, record.size);
    this.#end = this.#number(end, tags.length);
    for (const tag of tags) {
      this.#reserve(tag.length + lengthMax);
      this.#end = this.#lengthAndText(this.#end, tag);
    }
    this.#reserve(bucketId.length + recordRestMax);
    end = this.#lengthAndText(this.#end, bucketId);
    this.#bytes[end++] = record.retention === undefined ? 0 : 1;
    this.#end = end;
    if (record.retention !== undefined) this.#retention(record.retention);
    this.#end = this.#number(this.#end, record.version);
    this.#put(isSame ? created : timeBytes(record.updatedAtNs));
    this.nat(record.chunkSize);
  }

  #retention({ mode, untilNs, hasHold }: RetentionParts): void {
    const hasMode = mode.length > 0;
    this.nat(hasHold ? 1 : 0);
    this.nat(hasMode ? 1 : 0);
    if (hasMode) this.text(mode);
    this.nat(hasMode ? 1 : 0);
    if (hasMode) this.#put(timeBytes(untilNs));
    this.#reserve(recordRestMax);
  }

  /** Writes a length and a text; returns their end. */
  #lengthAndText(start: number, text: Uint8Array): number {
    const { length } = text;
    let end = start + 1;
    if (length < 0x80) {
      this.#bytes[start] = length;
    } else {
      end = this.#number(start, length);
    }
    this.#bytes.set(text, end);
    return end + length;
  }

  /** Unsigned LEB128. */
  #number(start: number, value: number): number {
    let end = start;
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[end++] = (rest & 0x7f) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[end++] = rest;
    return end;
  }

  #put(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  #reserve(length: number): void {
    if (this.#end + length > this.#bytes.length) {
      this.#bytes = concatBytes(this.#bytes, new Uint8Array(this.#bytes.length + length));
    }
  }
}

/** Times from 1971 to 2116 take nine bytes of seven bits; the last byte has a clear sign bit. */
const nineBytesMin = 2n ** 55n;
const nineBytesEnd = 2n ** 62n;

/** Signed LEB128, without a loop over bigints. */
function timeBytes(timeNs: bigint): Uint8Array {
  if (timeNs < nineBytesMin || timeNs >= nineBytesEnd) {
    return new Uint8Array(IDL.Int.encodeValue(timeNs));
  }
  const low = Number(timeNs & 0xfff_ffffn);
  const middle = Number((timeNs >> 28n) & 0xfff_ffffn);
  return Uint8Array.of(
    low | 0x80,
    (low >> 7) | 0x80,
    (low >> 14) | 0x80,
    (low >> 21) | 0x80,
    middle | 0x80,
    (middle >> 7) | 0x80,
    (middle >> 14) | 0x80,
    (middle >> 21) | 0x80,
    Number(timeNs >> 56n),
  );
}
