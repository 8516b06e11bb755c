// Tokens that make the beginning of an upload repeatable. A client that lost the answer repeats its
// request and gets the session that it began, instead of a second one. A chunk that brings the
// request of its upload finds the session in the same way, also after its end.

import { bytesEqual } from '../../lib/bytes.ts';
import { encodeHex } from '../../lib/hex.ts';
import { Refusal } from '../shared/refusal.ts';
import type { Stores } from '../shared/stores.ts';
import { uploadsWithToken } from './open-uploads.ts';
import { findSession, shownStatus, type UploadSession } from './upload-session.ts';

const compared = [
  'path',
  'contentType',
  'tags',
  'totalSize',
  'isSizeKnown',
  'headers',
  'metadata',
  'declaredChunkSize',
  'sha256',
  'ifMatch',
  'ifNoneMatch',
] as const;
const whose = ['bucketId', 'token', 'owner', 'keyHash', 'isOverHttp'] as const;

type Beginning = Pick<UploadSession, (typeof compared)[number] | (typeof whose)[number]>;

/** Session fields whose name in requests differs, with that name. */
const sentNames = { totalSize: 'size', isSizeKnown: 'size', declaredChunkSize: 'chunkSize' };

/**
 * Returns the session, open or ended, that the caller began in this bucket, over the same interface
 * (HTTP or actor) and with the same token; undefined if the token is empty or no such session
 * exists.
 */
export function findUploadOfToken(stores: Stores, beginning: Beginning): UploadSession | undefined {
  if (beginning.token === '') return undefined;
  return uploadsWithToken(stores, beginning)
    .map((uploadId) => findSession(stores, uploadId))
    .find((session) => session !== undefined && isOf(session, beginning));
}

export function isOpen(session: UploadSession, nowNs: bigint): boolean {
  return session.status === 'active' && shownStatus(session, nowNs) !== 'expired';
}

/** Compares caller and token in full, because uploadsWithToken() compares truncated hashes. */
function isOf(session: UploadSession, beginning: Beginning): boolean {
  const isCallers =
    bytesEqual(session.owner, beginning.owner) && bytesEqual(session.keyHash, beginning.keyHash);
  const isSameWay = session.isOverHttp === beginning.isOverHttp;
  return isCallers && isSameWay && session.token === beginning.token;
}

/** Refuses with InvalidArgument if one of the `compared` fields differs. */
export function requireSameFields(begun: UploadSession, beginning: Beginning): void {
  const differing = compared.filter((name) => textOf(begun[name]) !== textOf(beginning[name]));
  if (differing.length === 0) return;
  const names = differing.map((name) => ({ ...sentNames })[name as keyof typeof sentNames] ?? name);
  throw new Refusal(
    'InvalidArgument',
    `The token ${beginning.token} began an upload with another ${[...new Set(names)].join(', ')}. ` +
      'Repeat the first request unchanged, or send a new token.',
  );
}

function textOf(value: Beginning[(typeof compared)[number]]): string {
  return value instanceof Uint8Array ? encodeHex(value) : JSON.stringify(value);
}
