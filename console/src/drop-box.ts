// Drop boxes: addresses for sending files to one folder without seeing its contents. The address
// contains a key that may only write below the folder, and the digest of the files' recipients.

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
}

/** Creates a drop box and returns its address, which contains the key's secret. */
export async function makeDropBox(storage: Storage, request: DropBoxRequest): Promise<string> {
  const { bucket, folder, name, expiresAt } = request;
  const recipients = await storage.buckets.recipientsDigest(bucket);
  const { secret } = await storage.keys.create({
    name,
    buckets: [bucket],
    permissions: ['write'],
    prefix: folder || undefined,
    expiresAt,
  });
  // The folder comes last, so that a truncated address is not a drop box without recipients.
  const told = new URLSearchParams({ key: secret, bucket, recipients, folder });
  return `${location.origin}/#${told}`;
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
