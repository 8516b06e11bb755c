// Addresses for one folder, which contain a key. A drop box takes files without showing the
// folder's contents; its address has the digest of the files' recipients too. A folder's link shows
// the folder.

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
  /** Number of files that a drop box takes, and bytes of each; `undefined`: no limit. */
  readonly maxFiles?: number | undefined;
  readonly maxFileBytes?: number | undefined;
}

/** Creates a link to a folder and returns its address, which contains the key's secret. */
export async function makeFolderLink(storage: Storage, request: DropBoxRequest): Promise<string> {
  const { bucket, folder } = request;
  const key = await createKey(storage, request, 'read');
  return addressWith({ key, bucket, shared: folder });
}

function addressWith(parameters: Record<string, string>): string {
  return `${location.origin}/#${new URLSearchParams(parameters)}`;
}

async function createKey(
  storage: Storage,
  { bucket, folder, name, expiresAt, maxFiles, maxFileBytes }: DropBoxRequest,
  permission: 'read' | 'upload',
): Promise<string> {
  const scope = { buckets: [bucket], permissions: [permission], prefix: folder || undefined };
  const bounds = permission === 'upload' ? { maxFiles, maxFileBytes } : {};
  return (await storage.keys.create({ name, ...scope, ...bounds, expiresAt })).secret;
}

/** Creates a drop box and returns its address, which contains the key's secret. */
export async function makeDropBox(storage: Storage, request: DropBoxRequest): Promise<string> {
  const { bucket, folder, message } = request;
  const recipients = await storage.buckets.recipientsDigest(bucket);
  const key = await createKey(storage, request, 'upload');
  const said = message === '' ? {} : { message };
  // The folder comes last, so that a truncated address is not a drop box without recipients.
  return addressWith({ key, bucket, recipients, ...said, folder });
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
