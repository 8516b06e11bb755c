// Hand-written codecs, as in bulk-messages.ts, of the file methods that carry file bytes: the
// argument of uploadFile and the answer of readFile.

import { idlLabelToId } from '@dfinity/candid';
import type { FileArgument } from '../../domain/uploads/single-upload.ts';
import { concatBytes, emptyBytes } from '../../lib/bytes.ts';
import { leb128 } from '../../lib/leb128.ts';
import {
  type CandidReader,
  candidTypes,
  readCandid,
  type TableEntry,
  UnknownCandid,
} from '../candid/reader.ts';
import { encodeResult, headOfOk } from '../candid/result.ts';
import { FileUpload, ResultBytes } from '../candid/types.ts';
import type { Result } from '../runtime/call.ts';
import { type ArgumentBounds, decodeWithin, planOf } from './argument-decoder.ts';
import {
  argumentTypes,
  entryOf,
  requireElement,
  requirePairs,
  requireType,
} from './bulk-messages.ts';

const texts = ['bucketId', 'path', 'contentType'] as const;
const optionalTexts = ['sha256', 'ifMatch', 'ifNoneMatch', 'apiKey'] as const;
const fieldNames = new Map(
  [...texts, ...optionalTexts, 'bytes', 'tags', 'metadata'].map((name) => [
    idlLabelToId(name),
    name,
  ]),
);
/**
 * Maximum number of tags, and of metadata pairs, that are read: more than a file may have, so that
 * the domain refuses the excess.
 */
const itemsReadMax = 100;

/** Decodes the argument of `uploadFile`; the file's bytes are a view into the argument. */
export function decodeFileUpload(argument: Uint8Array, bounds: ArgumentBounds): FileArgument {
  return (
    readCandid(argument, bounds.textBytes, readFileUpload) ?? decodeAnyUpload(argument, bounds)
  );
}

function readFileUpload(reader: CandidReader): FileArgument {
  const table = reader.table();
  const root = argumentTypes(reader, 1)[0];
  const found: Partial<Record<string, unknown>> = { tags: [], metadata: [] };
  for (const [id, type] of entryOf(table, root, candidTypes.record).parts) {
    const name = fieldNames.get(id);
    if (name === undefined) {
      throw new UnknownCandid();
    }
    found[name] = readField(reader, { name, type, table });
  }
  if (found.bytes === undefined || texts.some((name) => found[name] === undefined)) {
    throw new UnknownCandid();
  }
  return found as unknown as FileArgument;
}

function readField(
  reader: CandidReader,
  field: { readonly name: string; readonly type: number; readonly table: TableEntry[] },
): unknown {
  const { name, type, table } = field;
  if (name === 'bytes') {
    requireElement(table, type, { kind: candidTypes.vec, element: candidTypes.nat8 });
    return reader.blob();
  }
  if (name === 'tags') {
    const list = entryOf(table, type, candidTypes.opt).parts[0]?.[1];
    requireElement(table, list, { kind: candidTypes.vec, element: candidTypes.text });
    return reader.flag() ? readTexts(reader) : [];
  }
  if (name === 'metadata') {
    requirePairs(table, entryOf(table, type, candidTypes.opt).parts[0]?.[1]);
    return reader.flag() ? readPairs(reader) : [];
  }
  if ((texts as readonly string[]).includes(name)) {
    requireType(type, candidTypes.text);
    return reader.text();
  }
  requireElement(table, type, { kind: candidTypes.opt, element: candidTypes.text });
  return reader.flag() ? reader.text() : undefined;
}

function readTexts(reader: CandidReader): string[] {
  return Array.from({ length: reader.count(itemsReadMax) }, () => reader.text());
}

function readPairs(reader: CandidReader): [string, string][] {
  const length = reader.count(itemsReadMax);
  return Array.from({ length }, () => [reader.text(), reader.text()]);
}

const uploadPlans = [planOf(FileUpload)];

interface AnyUpload {
  bucketId: string;
  path: string;
  contentType: string;
  bytes: Uint8Array;
  tags: [] | [string[]];
  sha256: [] | [string];
  ifMatch: [] | [string];
  ifNoneMatch: [] | [string];
  apiKey: [] | [string];
  metadata: [] | [[string, string][]];
}

/** Decodes an upload whose types differ but are compatible. */
function decodeAnyUpload(argument: Uint8Array, bounds: ArgumentBounds): FileArgument {
  const [upload] = decodeWithin(uploadPlans, argument, bounds) as [AnyUpload];
  return {
    ...upload,
    tags: upload.tags[0] ?? [],
    sha256: upload.sha256[0],
    ifMatch: upload.ifMatch[0],
    ifNoneMatch: upload.ifNoneMatch[0],
    apiKey: upload.apiKey[0],
    metadata: upload.metadata[0] ?? [],
  };
}

const bytesHead = headOfOk(ResultBytes);

/** Encodes the answer of `readFile`: its head and the file's bytes, empty for an error. */
export function encodeBytesResult(
  result: Result<Uint8Array>,
): readonly [head: Uint8Array, bytes: Uint8Array] {
  return 'ok' in result
    ? [concatBytes(bytesHead, leb128(result.ok.length)), result.ok]
    : [encodeResult(ResultBytes, result), emptyBytes];
}
