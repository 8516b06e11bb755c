// Addresses with a fixed public answer, which needs no decryption.

import { type FileRecord, findFile } from '../domain/files/file-records.ts';
import { findLink } from '../domain/files/link-layout.ts';
import type { Stores } from '../domain/shared/stores.ts';
import { singleSlashes } from '../lib/url-paths.ts';
import { answerOfText } from './certified-text.ts';
import { linkHeaders, ownHeaders, servedHeaders } from './file-headers.ts';
import type { PublicAnswer, ServedHeaders } from './message.ts';
import { findPage } from './pages.ts';
import { foundAt, siteAt } from './sites.ts';

/** `urlPath`: percent-decoded; empty segments are ignored, as by verifiers. */
export function answerAt(stores: Stores, urlPath: string): Omit<PublicAnswer, 'row'> | undefined {
  addressPattern.lastIndex = 0;
  const [, top, below = ''] = addressPattern.exec(singleSlashes(urlPath)) ?? [];
  const end = below.indexOf('/');
  const [bucket, path] = end === -1 ? [below, ''] : [below.slice(0, end), below.slice(end + 1)];
  if (top === 's') return answerAtLink(stores, { id: bucket, address: urlPath });
  if (top !== 'cloud') {
    const page = findPage(stores, singleSlashes(urlPath));
    return page && answerOfText(page.text);
  }
  const file = path.endsWith('/') || path === '' ? undefined : findFile(stores, bucket, path);
  if (file !== undefined) return fileAnswer(file, ownHeaders(file), urlPath);
  const place = siteAt(stores, urlPath);
  const found = place && foundAt(stores, place);
  if (found?.target.kind !== 'file') return undefined;
  const { isWildcard, target } = found;
  return { ...fileAnswer(target.file, servedHeaders(target.file), urlPath), isWildcard };
}

function fileAnswer(file: FileRecord, served: ServedHeaders, urlPath: string) {
  return { content: file, served, address: urlPath, isFormer: file.leavesVersion === 1 };
}

function answerAtLink(stores: Stores, { id, address }: { id: string; address: string }) {
  const link = findLink(stores, id);
  const file = link && findFile(stores, link.bucketId, link.path);
  if (link === undefined || link.limit !== undefined || file === undefined) return undefined;
  return { content: file, served: linkHeaders(file, link), address, isFormer: false };
}

/** Captures the first segment and the rest, which may have thousands of segments, as one text. */
const addressPattern = /\/?([^/]+)\/?(.*)$/sy;
