// The answer of an operation that writes a file, as far as its caller may see the record. A key
// without the right to read is shown what it sent, beside the name, id and version of the file and
// the time of this write: the rest was stored by others.

import { emptyBytes } from '../../lib/bytes.ts';
import type { Grant } from '../rights/rights.ts';
import type { FileRecord } from './file-layout.ts';

/** The fields of a file's record; `content` stands for its size, its digests and its ETag. */
export type ShownField = 'content' | 'contentType' | 'tags' | 'metadata' | 'createdAt';

export interface WrittenFile {
  /** Hidden fields are empty; the time of creation is that of the write. */
  readonly file: FileRecord;
  /** Nothing was at its path. */
  readonly isNew: boolean;
  readonly hidden: readonly ShownField[];
}

const shownFields: readonly ShownField[] = [
  'content',
  'contentType',
  'tags',
  'metadata',
  'createdAt',
];

/** An upload brings all of a file. */
export const uploadedFields: readonly ShownField[] = ['content', 'contentType', 'tags', 'metadata'];

/** `sent`: the fields that the caller brought with this write. */
export function shownToWriter(
  { key }: Pick<Grant, 'key'>,
  written: { readonly file: FileRecord; readonly isNew: boolean },
  sent: readonly ShownField[],
): WrittenFile {
  const { file, isNew } = written;
  if (key === undefined || key.permissions.includes('read')) return { file, isNew, hidden: [] };
  // A repeated completion is not new, but answers like the first.
  const isCreated = isNew || file.createdAtNs === file.updatedAtNs;
  const hidden = shownFields.filter(
    (field) => !sent.includes(field) && !(field === 'createdAt' && isCreated),
  );
  return {
    file: Object.assign({ ...file }, ...hidden.map((one) => blank(file, one))),
    isNew,
    hidden,
  };
}

function blank(file: FileRecord, field: ShownField): Partial<FileRecord> {
  switch (field) {
    case 'content':
      return { size: 0, chunkSize: 0, chunkCount: 0, digest: emptyBytes };
    case 'contentType':
      return { contentType: '' };
    case 'tags':
      return { tags: [] };
    case 'metadata':
      return { metadata: [] };
    case 'createdAt':
      return { createdAtNs: file.updatedAtNs };
  }
}
