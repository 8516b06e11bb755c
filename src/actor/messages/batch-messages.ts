// The arguments of uploadFiles, deleteFiles and switchFiles. Their lists are long, and the fields
// beside the lists determine the caller's right, so the lists are skipped first and read after the
// right is checked. Arguments of other types go to the argument decoder, within its bounds.

import { idlLabelToId } from '@dfinity/candid';
import {
  batchFileCountMax,
  batchItemCountMax,
  deletedFileCountMax,
} from '../../../packages/wire/src/limits.ts';
import { Refusal } from '../../domain/shared/refusal.ts';
import { FileSwitch } from '../candid/operations.ts';
import {
  CandidFault,
  type CandidReader,
  candidTypes,
  readCandid,
  type SkippedLayout,
  skippedLayouts,
  type TableEntry,
  UnknownCandid,
} from '../candid/reader.ts';
import { BatchedFile, FileBatch, FileDeletion } from '../candid/types.ts';
import { type ArgumentBounds, decodeWithin, planOf } from './argument-decoder.ts';
import {
  argumentTypes,
  entryOf,
  requireElement,
  requirePairs,
  requireType,
} from './bulk-messages.ts';
import type { Optional } from './optional.ts';

/** The fields of a call that are read before its lists. */
export interface BucketArgument {
  readonly bucketId: string;
  readonly apiKey: string | undefined;
}

/** A file in Candid's form; its bytes are a view into the argument. */
export interface BatchedFileArgument {
  readonly path: string;
  readonly contentType: Optional<string>;
  readonly bytes: Uint8Array;
  readonly tags: Optional<string[]>;
  readonly headers: Optional<[string, string][]>;
  readonly sha256: Optional<string>;
  readonly ifMatch: Optional<string>;
  readonly ifNoneMatch: Optional<string>;
  readonly metadata: Optional<[string, string][]>;
}

export interface FileBatchArgument extends BucketArgument {
  /** Throws a Refusal if the files are malformed. */
  readFiles(): BatchedFileArgument[];
}

export interface FileDeletionArgument extends BucketArgument {
  readonly prefix: string | undefined;
  readonly cursor: string | undefined;
  readonly ifMatch: string | undefined;
  readonly bypassGovernance: boolean | undefined;
  /** Throws a Refusal if the paths are malformed. */
  readPaths(): string[] | undefined;
}

export interface FileSwitchArgument extends BucketArgument {
  readonly fromPrefix: string;
  readonly toPrefix: string;
  readonly ifResult: string | undefined;
  /** Throws a Refusal if the paths are malformed. */
  readPaths(): string[] | undefined;
}

function namesOf(names: readonly string[]): ReadonlyMap<number, string> {
  return new Map(names.map((name) => [idlLabelToId(name), name]));
}

/** Turns faults that are found after the caller's right was checked into refusals. */
function refusingFaults<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof CandidFault) {
      throw new Refusal('InvalidArgument', `The message ${error.message}.`);
    }
    throw error;
  }
}

interface Field {
  readonly name: string;
  readonly type: number;
}

/** Returns the fields of a record in the order of their values. */
function fieldsOf(entry: TableEntry, names: ReadonlyMap<number, string>): Field[] {
  return entry.parts.map(([id, type]) => {
    const name = names.get(id);
    if (name === undefined) throw new UnknownCandid();
    return { name, type };
  });
}

function requireAll(found: object, names: readonly string[]): void {
  if (!names.every((name) => name in found)) throw new UnknownCandid();
}

function optionalText(reader: CandidReader, table: TableEntry[], type: number) {
  requireElement(table, type, { kind: candidTypes.opt, element: candidTypes.text });
  return reader.flag() ? reader.text() : undefined;
}

const batchNames = namesOf(['files', 'bucketId', 'apiKey']);
const batchPlans = [planOf(FileBatch)];

/** Decodes the argument of `uploadFiles`. */
export function decodeFileBatch(argument: Uint8Array, bounds: ArgumentBounds): FileBatchArgument {
  const batch = readCandid(argument, bounds.textBytes, readBatch);
  if (batch !== undefined) return batch;
  const [any] = decodeWithin(batchPlans, argument, bounds) as [
    { bucketId: string; files: BatchedFileArgument[]; apiKey: Optional<string> },
  ];
  return { bucketId: any.bucketId, apiKey: any.apiKey[0], readFiles: () => any.files };
}

function readBatch(reader: CandidReader): FileBatchArgument {
  const table = reader.table();
  const root = entryOf(table, argumentTypes(reader, 1)[0], candidTypes.record);
  const found: { -readonly [Name in keyof FileBatchArgument]?: FileBatchArgument[Name] } = {};
  for (const { name, type } of fieldsOf(root, batchNames)) {
    if (name === 'files') found.readFiles = laterFiles(reader, table, type);
    else if (name === 'apiKey') found.apiKey = optionalText(reader, table, type);
    else {
      requireType(type, candidTypes.text);
      found.bucketId = reader.text();
    }
  }
  requireAll(found, ['bucketId', 'readFiles']);
  return found as FileBatchArgument;
}

const fileNames = namesOf(BatchedFile._fields.map(([name]) => name));

interface FileField {
  readonly name: string;
  readonly kind: SkippedLayout;
}

function fileFieldsOf(table: TableEntry[], type: number | undefined): FileField[] {
  const fields = fieldsOf(entryOf(table, type, candidTypes.record), fileNames);
  requireAll(Object.fromEntries(fields.map(({ name }) => [name, 0])), ['path', 'bytes']);
  return fields.map(({ name, type }) => ({ name, kind: fileFieldKind(table, name, type) }));
}

function fileFieldKind(table: TableEntry[], name: string, type: number): SkippedLayout {
  if (name === 'path') {
    requireType(type, candidTypes.text);
    return skippedLayouts.blob;
  }
  if (name === 'bytes') {
    requireElement(table, type, { kind: candidTypes.vec, element: candidTypes.nat8 });
    return skippedLayouts.blob;
  }
  const inner = entryOf(table, type, candidTypes.opt).parts[0]?.[1];
  if (name === 'tags') {
    requireElement(table, inner, { kind: candidTypes.vec, element: candidTypes.text });
    return skippedLayouts.optBlobs;
  }
  if (name === 'headers' || name === 'metadata') {
    requirePairs(table, inner);
    return skippedLayouts.optPairs;
  }
  requireType(inner, candidTypes.text);
  return skippedLayouts.optBlob;
}

/** Skips the files and returns a function that reads them. */
function laterFiles(reader: CandidReader, table: TableEntry[], type: number) {
  const fields = fileFieldsOf(table, entryOf(table, type, candidTypes.vec).parts[0]?.[1]);
  const length = reader.count(batchFileCountMax);
  const start = reader.position;
  const layout = fields.map(({ kind }) => kind);
  reader.skipRows(length, layout, batchItemCountMax);
  return () =>
    refusingFaults(() => {
      reader.seek(start);
      return Array.from({ length }, () => readBatchedFile(reader, fields));
    });
}

function readBatchedFile(reader: CandidReader, fields: readonly FileField[]): BatchedFileArgument {
  const found: Record<string, unknown> = {
    contentType: [],
    tags: [],
    headers: [],
    sha256: [],
    ifMatch: [],
    ifNoneMatch: [],
    metadata: [],
  };
  for (const { name, kind } of fields) {
    if (name === 'bytes') found.bytes = reader.blob();
    else if (kind === skippedLayouts.blob) found.path = reader.text();
    else if (reader.flag()) found[name] = [readOption(reader, kind)];
  }
  return found as unknown as BatchedFileArgument;
}

function readOption(reader: CandidReader, kind: SkippedLayout): unknown {
  if (kind === skippedLayouts.optBlob) return reader.text();
  const length = reader.count(batchItemCountMax);
  return kind === skippedLayouts.optBlobs
    ? Array.from({ length }, () => reader.text())
    : Array.from({ length }, () => [reader.text(), reader.text()]);
}

const deletionNames = namesOf(FileDeletion._fields.map(([name]) => name));
const deletionPlans = [planOf(FileDeletion)];

/** Decodes the argument of `deleteFiles`. */
export function decodeFileDeletion(
  argument: Uint8Array,
  bounds: ArgumentBounds,
): FileDeletionArgument {
  const read = (reader: CandidReader) => readListed(reader, deletionNames, ['bucketId']);
  const deletion = readCandid(argument, bounds.textBytes, read);
  if (deletion !== undefined) return deletion as unknown as FileDeletionArgument;
  const [any] = decodeWithin(deletionPlans, argument, bounds) as [
    {
      bucketId: string;
      paths: Optional<string[]>;
      prefix: Optional<string>;
      cursor: Optional<string>;
      ifMatch: Optional<string>;
      bypassGovernance: Optional<boolean>;
      apiKey: Optional<string>;
    },
  ];
  const { bucketId, prefix, cursor, ifMatch, bypassGovernance, apiKey, paths } = any;
  const readPaths = () => paths[0];
  const limits = { prefix: prefix[0], cursor: cursor[0], ifMatch: ifMatch[0] };
  const flag = { bypassGovernance: bypassGovernance[0] };
  return { bucketId, apiKey: apiKey[0], ...limits, ...flag, readPaths };
}

const switchNames = namesOf(FileSwitch._fields.map(([name]) => name));
const switchPlans = [planOf(FileSwitch)];

/** Decodes the argument of `switchFiles`. */
export function decodeFileSwitch(argument: Uint8Array, bounds: ArgumentBounds): FileSwitchArgument {
  const texts = ['bucketId', 'fromPrefix', 'toPrefix'];
  const read = (reader: CandidReader) => readListed(reader, switchNames, texts);
  const order = readCandid(argument, bounds.textBytes, read);
  if (order !== undefined) return order as unknown as FileSwitchArgument;
  const [any] = decodeWithin(switchPlans, argument, bounds) as [
    {
      bucketId: string;
      fromPrefix: string;
      toPrefix: string;
      deletes: Optional<string[]>;
      ifResult: Optional<string>;
      apiKey: Optional<string>;
    },
  ];
  const { deletes, ifResult, apiKey, ...names } = any;
  return { ...names, ifResult: ifResult[0], apiKey: apiKey[0], readPaths: () => deletes[0] };
}

/** Reads a record with one list of paths, which it skips. `texts`: the fields that must exist. */
function readListed(
  reader: CandidReader,
  names: ReadonlyMap<number, string>,
  texts: readonly string[],
): Record<string, unknown> {
  const table = reader.table();
  const root = entryOf(table, argumentTypes(reader, 1)[0], candidTypes.record);
  const found: Record<string, unknown> = { readPaths: () => undefined };
  for (const { name, type } of fieldsOf(root, names)) {
    if (name === 'paths' || name === 'deletes') found.readPaths = laterPaths(reader, table, type);
    else if (texts.includes(name)) {
      requireType(type, candidTypes.text);
      found[name] = reader.text();
    } else if (name === 'bypassGovernance') {
      requireElement(table, type, { kind: candidTypes.opt, element: candidTypes.bool });
      found[name] = reader.flag() ? reader.flag() : undefined;
    } else found[name] = optionalText(reader, table, type);
  }
  requireAll(found, texts);
  return found;
}

function laterPaths(reader: CandidReader, table: TableEntry[], type: number) {
  const list = entryOf(table, type, candidTypes.opt).parts[0]?.[1];
  requireElement(table, list, { kind: candidTypes.vec, element: candidTypes.text });
  if (!reader.flag()) return () => undefined;
  const length = reader.count(deletedFileCountMax);
  const start = reader.position;
  reader.skipRows(length, [skippedLayouts.blob]);
  return () =>
    refusingFaults(() => {
      reader.seek(start);
      return Array.from({ length }, () => reader.text());
    });
}
