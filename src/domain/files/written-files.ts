// The answer of an operation that writes a file, restricted to what the caller may see. A key
// without the right to read gets only the fields that it sent, the name, id and version of the file
// and the time of this write, because others stored the rest.

import { emptyBytes } from '../../lib/bytes.ts';
import type { Grant } from '../rights/rights.ts';
import type { FileRecord } from './file-fields.ts';

/** The fields of a file's record; `content` includes its size, digests and ETag. */
export type ShownField = 'content' | 'contentType' | 'tags' | 'metadata' | 'createdAt';

export interface WrittenFile {
  /** Hidden fields are empty; the time of creation equals that of the write. */
  readonly file: FileRecord;
  /** The stored record, if it is at hand and nothing is hidden. */
  readonly record?: Uint8Array | undefined;
  /** Whether the path was free. */
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

/** An upload sends every field. */
export const uploadedFields: readonly ShownField[] = ['content', 'contentType', 'tags', 'metadata'];

/** `sent`: the fields that the caller sent with this write. */
export function shownToWriter(
  { key }: Pick<Grant, 'key'>,
  written: Omit<WrittenFile, 'hidden'>,
  sent: readonly ShownField[],
): WrittenFile {
  const { file, record, isNew } = written;
  if (key === undefined || key.permissions.includes('read')) {
    return { file, record, isNew, hidden: [] };
  }
  // A repeated completion is not new, but must answer like the first.
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
