// Drop boxes: addresses with a key, for one folder. A drop box takes files without showing the
// folder's contents; its address has the digest of the files' recipients too.

import { type Storage, transportOf } from '../../packages/client/src/storage.ts';
import { notEndToEnd } from '../../packages/client/src/types/recipients-digest.ts';
import { texts } from './language.ts';
import { thisService } from './service.ts';
import { type DropBox, type Session, secretOf } from './session.ts';

export interface DropBoxRequest {
  readonly bucket: string;
  readonly folder: string;
  /** Name of the key in the owner's list. */
  readonly name: string;
  readonly expiresAt: Date | undefined;
  /** Shown to the senders; '' for nothing. */
  readonly message: string;
  /** Number of files, and bytes of each; `undefined`: no limit. */
  readonly maxFiles?: number | undefined;
  readonly maxFileBytes?: number | undefined;
}

/** Creates a drop box and returns its address, which contains the key's secret. */
export async function makeDropBox(storage: Storage, request: DropBoxRequest): Promise<string> {
  const { bucket, folder, message, ...options } = request;
  const recipients = await storage.buckets.recipientsDigest(bucket);
  const scope = {
    buckets: [bucket],
    permissions: ['upload'] as const,
    prefix: folder || undefined,
  };
  const { secret: key } = await storage.keys.create({ ...options, ...scope });
  const said = message === '' ? {} : { message };
  // The folder comes last, so that a truncated address is not a drop box without recipients.
  return `${location.origin}/#${new URLSearchParams({ key, bucket, recipients, ...said, folder })}`;
}

/** Returns the digest of the bucket's recipients; at a front, the network signs the reply. */
export async function recipientsOf(session: Session, box: DropBox): Promise<string> {
  const { bucket, recipients = notEndToEnd } = box;
  const { isAtFront, url } = await thisService();
  if (isAtFront) return session.stored.buckets.recipientsDigest(bucket);
  const transport = transportOf({ url, apiKey: secretOf(session), transport: 'http' });
  const { endToEnd } = await transport.getEndToEnd(bucket, undefined);
  if (endToEnd || recipients !== notEndToEnd) throw new Error(texts().dropBox.needsFront);
  return notEndToEnd;
}
