// The parts of a file that a preview needs, from a bucket or from a link.

import type { FileRecord } from '../../../packages/client/src/types/files.ts';
import type { Session } from '../session.ts';
import { nameOf } from '../words.ts';
import { type OpenedAddress, openAddress } from './download.ts';
import { isSealed, openSealed } from './sealed.ts';
import { shownType } from './shown-type.ts';

export interface Previewed {
  readonly name: string;
  /** Media type in lower case, without parameters; '' if unknown. */
  readonly type: string;
  readonly size: number;
  whole(): Promise<Blob>;
  /** Opens an address for streaming outside the page's memory; absent for encrypted files. */
  address?: (() => Promise<OpenedAddress>) | undefined;
}

export function previewedOf(session: Session, file: FileRecord): Previewed {
  const { bucketId: bucket, path, size } = file;
  const { storage } = session;
  const told = { name: nameOf(path), type: shownType(file), size };
  if (isSealed(file)) return { ...told, whole: () => openSealed(session, file) };
  return {
    ...told,
    async whole() {
      const { bytes } = await storage.download({ bucket, path });
      return new Blob([(await bytes()) as BlobPart]);
    },
    address: () => openAddress({ storage, bucket }, path),
  };
}
