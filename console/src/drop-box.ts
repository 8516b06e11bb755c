// Drop boxes: an address by which people send files to one folder and see nothing. What makes it
// one is the key in it, which may write below the folder and do nothing else.

import type { Storage } from '../../packages/client/src/storage.ts';

export interface DropBox {
  readonly bucket: string;
  /** With its last slash; '' for all of the bucket. */
  readonly folder: string;
}

export interface DropBoxRequest extends DropBox {
  /** Name of the key, for its owner. */
  readonly name: string;
  readonly expiresAt: Date | undefined;
}

/** The address; whoever has it has the key. */
export async function makeDropBox({ keys }: Storage, request: DropBoxRequest): Promise<string> {
  const { bucket, folder, name, expiresAt } = request;
  const { secret } = await keys.create({
    name,
    buckets: [bucket],
    permissions: ['write'],
    prefix: folder || undefined,
    expiresAt,
  });
  const told = new URLSearchParams({ key: secret, bucket, folder });
  return `${location.origin}/#${told}`;
}
