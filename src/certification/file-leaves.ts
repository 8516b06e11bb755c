// The tree of one file's certified answers, computed by the native kernel (kernel/file-tree.ts).
// JavaScript passes the file's headers as one text, because a hash costs ten times as much here.

import {
  createCommand,
  kernelCall,
  kernelOperations,
  kernelWords,
  refuseOperand,
} from '../crypto/kernel.ts';
import { assert } from '../lib/assert.ts';
import { concatBytes } from '../lib/bytes.ts';
import { encodeUtf8 } from '../lib/text.ts';
import { type CertifiedFile, type FileRow, thumbnailOf } from './certified-file.ts';
import { expressionField, expressionHash } from './expressions.ts';
import { labeledTree, leafTree } from './hash-tree.ts';
import {
  emptyBodyDigest,
  fieldPair,
  messageHash,
  methodHash,
  methodPair,
  nameHash,
  statusPair,
} from './representation-hash.ts';
import { thumbnailLabel, thumbnailLeaves } from './thumbnail-leaves.ts';

/** Returns the data that all files' leaves share. `options`: response hash of OPTIONS. */
export function leafConstants(options: Uint8Array): Uint8Array {
  const optionsTree = labeledTree({ label: options, tree: leafTree(true) });
  const optionsLeaf = labeledTree({ label: methodHash('OPTIONS'), tree: optionsTree });
  const expressionName = nameHash(expressionField);
  const expression = (name: 'plain' | 'ifNoneMatch' | 'range') =>
    concatBytes(expressionName, expressionHash(name));
  return concatBytes(
    ...[200, 206, 304].map(statusPair),
    expression('plain'),
    expression('ifNoneMatch'),
    expression('range'),
    ...['GET', 'HEAD'].map(methodPair),
    ...['content-length', 'content-range', 'if-none-match', 'range'].map(nameHash),
    ...['GET', 'HEAD', 'OPTIONS'].map(methodHash),
    options,
    optionsTree.hash,
    optionsLeaf.hash,
    emptyBodyDigest(),
    leafTree(true).hash,
    messageHash([methodPair('GET'), fieldPair(['range', 'bytes=0-'])], emptyBodyDigest()),
  );
}

/** Offset of the pair of the first of the three expressions, whose values label the levels. */
const expressionsAt = 192;

/** Returns the constants of files with a thumbnail, whose leaves have other expressions. */
function picturedConstants(constants: Uint8Array): Uint8Array {
  const changed = constants.slice();
  const names = ['picturedPlain', 'picturedIfNoneMatch', 'picturedRange'] as const;
  for (const [index, name] of names.entries()) {
    changed.set(expressionHash(name), expressionsAt + index * pairBytes + hashBytes);
  }
  return changed;
}

export interface FileLeaves {
  /** Returns the hash of the tree below a file's label, for files of at most one part. */
  hash(file: CertifiedFile): Uint8Array;
  /** Returns the CBOR, without tag, that shows the row of such a file without a thumbnail. */
  tree(file: CertifiedFile, row: FileRow): Uint8Array;
  /** Returns, for stored levels, the row's label and the CBOR below it. */
  row(file: CertifiedFile, row: FileRow): StoredRow;
  /** Returns the stored levels that do not depend on parts, and the pairs of a part's answer. */
  levels(file: CertifiedFile): FileLevels;
  /** Returns label and hash of each leaf of the file's thumbnail. */
  thumbnail(file: CertifiedFile): Uint8Array;
}

/** Returns the thumbnail as a file, whose responses its leaves have. */
function asFile(pictured: CertifiedFile): CertifiedFile {
  const { headers, size, digest } = thumbnailOf(pictured);
  const [, etag = ''] = headers[0] ?? [];
  const shown = { etag, validators: headers, headers: [], size, partSize: size, partCount: 1 };
  return { ...pictured, ...shown, partDigest: digest };
}

export interface StoredRow {
  readonly label: Uint8Array;
  readonly subtree: Uint8Array;
}

/** Label and hash of each leaf. */
export interface FileLevels {
  readonly plain: Uint8Array;
  readonly ifNoneMatch: Uint8Array;
  /** Name and value hashes of all fields except Content-Range. */
  readonly partPairs: Uint8Array;
}

const hashBytes = 32;
const leafBytes = 64;
const pairBytes = 64;
const plainLeaves = 3;
const fixedLeaves = 7;
const fieldsMax = 32;
/** Maximum bytes of the CBOR of a tree, and of a row. */
const treeBytesMax = 320;
const rowBytesMax = 72;

// kernel/file-tree.ts
const asks = { hash: 0, tree: 1, row: 2, levels: 3 } as const;
const optionsRow = 2;
const tagRow = 3;
const partRow = 7;

const partWord = kernelWords.longResult;
const two32 = 0x1_0000_0000;
const command = createCommand(kernelOperations.fileTree, 4);

interface Question {
  readonly ask: keyof typeof asks;
  readonly file: CertifiedFile;
  readonly row: FileRow;
  readonly room: number;
}

const wholeRow: FileRow = { row: 'plain', method: 'GET' };

export function openFileLeaves(constants: () => Uint8Array): FileLeaves {
  function run({ ask, file, row, room }: Question): Uint8Array {
    const { validators, headers, size, partSize } = file;
    const fields = validators.concat(headers);
    assert(fields.length <= fieldsMax, 'a file has few headers');
    assert(validators[0]?.[1] === file.etag, 'the first validator is the tag');
    const text = encodeUtf8(fields.flat().join('\0'));
    const part = row.row === 'part' ? row.index : 0;
    const digest = file.partDigest(part);
    if (digest.length !== hashBytes) refuseOperand('digest', digest);
    const shared = file.thumbnail === undefined ? constants() : picturedConstants(constants());
    const out = new Uint8Array(room);
    const { words } = command;
    words[kernelWords.selector] = asks[ask] | (rowNumber(file, row) << 8);
    words[kernelWords.offset] = size;
    words[kernelWords.offset + 1] = size / two32;
    words[kernelWords.length] = partSize;
    words[kernelWords.length + 1] = partSize / two32;
    words[partWord] = part;
    words[partWord + 1] = file.partCount;
    words[partWord + 2] = validators.length;
    words[partWord + 3] = fields.length;
    kernelCall(command.bytes);
    kernelCall(text);
    kernelCall(shared);
    kernelCall(digest);
    kernelCall(out);
    return out.subarray(0, words[kernelWords.result]);
  }

  function levels(file: CertifiedFile): FileLevels {
    const pairs = file.validators.length + file.headers.length + 2;
    const room = fixedLeaves * leafBytes + pairs * pairBytes;
    const found = run({ ask: 'levels', file, row: wholeRow, room });
    return {
      plain: found.subarray(0, plainLeaves * leafBytes),
      ifNoneMatch: found.subarray(plainLeaves * leafBytes, fixedLeaves * leafBytes),
      partPairs: found.subarray(fixedLeaves * leafBytes),
    };
  }

  return {
    hash: (file) => run({ ask: 'hash', file, row: wholeRow, room: hashBytes }),
    tree: (file, row) => run({ ask: 'tree', file, row, room: treeBytesMax }),
    row(file, row) {
      if (row.row === 'thumbnail') {
        const asked: FileRow = { row: 'plain', method: row.method };
        const found = run({ ask: 'row', file: asFile(file), row: asked, room: rowBytesMax });
        return { label: thumbnailLabel(row), subtree: found.subarray(hashBytes) };
      }
      const found = run({ ask: 'row', file, row, room: rowBytesMax });
      return { label: found.subarray(0, hashBytes), subtree: found.subarray(hashBytes) };
    },
    levels,
    thumbnail(file) {
      const { plain } = levels(asFile(file));
      const head = plain.subarray(leafBytes + hashBytes, 2 * leafBytes);
      return thumbnailLeaves(plain.subarray(hashBytes, leafBytes), head);
    },
  };
}

function rowNumber({ etag }: CertifiedFile, row: FileRow): number {
  switch (row.row) {
    case 'plain':
      return row.method === 'GET' ? 0 : 1;
    case 'preflight':
      return optionsRow;
    case 'not-modified': {
      const isWeak = row.tag !== etag;
      assert(!isWeak || row.tag === `W/${etag}`, 'a 304 is for the tag of the file');
      return tagRow + (isWeak ? 2 : 0) + (row.method === 'GET' ? 0 : 1);
    }
    case 'part':
      return partRow;
    case 'thumbnail':
      throw new Error('the leaves of a thumbnail are stored');
  }
}
