// The routes of the service, one row each.

import { emptyBytes } from '../lib/bytes.ts';
import { linkPattern } from './budgets.ts';
import { getCloudFile, headCloudFile } from './cloud.ts';
import { postCopy, postMove } from './copies.ts';
import { getEndToEnd } from './end-to-end.ts';
import { postDeletion, postFiles } from './file-batches.ts';
import { getFileList } from './file-list.ts';
import { putFile } from './file-upload.ts';
import { deleteFileRecord, getFileRecord, headFileRecord, patchFileRecord } from './files.ts';
import { getLinkedFile, headLinkedFile } from './linked-files.ts';
import { deleteLinkRecord, getLinks, postLink } from './links.ts';
import { getPage } from './pages.ts';
import { type Handler, type Route, upgrade } from './router.ts';
import { getStatus } from './status.ts';
import {
  completeUploadSession,
  deleteUploadSession,
  getUploadSession,
  getUploadSessions,
  putUploadChunk,
  startUpload,
} from './upload-sessions.ts';
import { getBucketUsage } from './usage.ts';
import {
  deleteVersions,
  getVersionBytes,
  getVersions,
  headVersionBytes,
  postRestore,
} from './versions.ts';

/** As GET answers, without the content (RFC 9110 §9.3.2). */
function headOf(get: Handler): Handler {
  return (exchange) => {
    const response = get(exchange);
    return response === upgrade ? upgrade : { ...response, body: emptyBytes };
  };
}

const pageRoutes: readonly Route[] = [
  { pattern: /^\/(\.well-known\/.*)$/sy, handlers: { GET: getPage, HEAD: getPage } },
  { pattern: /^\/((?:assets\/)?[^/]*)$/y, handlers: { GET: getPage, HEAD: getPage } },
];

export const routes: readonly Route[] = [
  { pattern: /^\/api\/v1\/status$/y, handlers: { GET: getStatus, HEAD: headOf(getStatus) } },
  { pattern: linkPattern, handlers: { GET: getLinkedFile, HEAD: headLinkedFile } },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/links$/y,
    handlers: { GET: getLinks, HEAD: headOf(getLinks), POST: postLink },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/links\/([^/]*)$/y,
    handlers: { DELETE: deleteLinkRecord },
  },
  { pattern: /^\/cloud\/([^/]*)\/(.*)$/sy, handlers: { GET: getCloudFile, HEAD: headCloudFile } },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/files$/y,
    handlers: { GET: getFileList, HEAD: headOf(getFileList), POST: postFiles },
    isList: true,
  },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/delete$/y, handlers: { POST: postDeletion } },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/files\/(.*)$/sy,
    handlers: {
      GET: getFileRecord,
      HEAD: headFileRecord,
      PUT: putFile,
      DELETE: deleteFileRecord,
      PATCH: patchFileRecord,
    },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/versions$/y,
    handlers: { GET: getVersions, HEAD: headOf(getVersions), DELETE: deleteVersions },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/versions\/(.*)$/sy,
    handlers: { GET: getVersionBytes, HEAD: headVersionBytes, DELETE: deleteVersions },
  },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/restore$/y, handlers: { POST: postRestore } },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/copy$/y, handlers: { POST: postCopy } },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/move$/y, handlers: { POST: postMove } },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/usage$/y,
    handlers: { GET: getBucketUsage, HEAD: headOf(getBucketUsage) },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/end-to-end$/y,
    handlers: { GET: getEndToEnd, HEAD: headOf(getEndToEnd) },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload$/y,
    handlers: { GET: getUploadSessions, HEAD: headOf(getUploadSessions) },
  },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload\/start$/y, handlers: { POST: startUpload } },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload\/([^/]*)\/chunk\/([^/]*)$/y,
    handlers: { PUT: putUploadChunk },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload\/([^/]*)\/complete$/y,
    handlers: { POST: completeUploadSession },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/upload\/([^/]*)$/y,
    handlers: {
      GET: getUploadSession,
      HEAD: headOf(getUploadSession),
      DELETE: deleteUploadSession,
    },
  },
  ...pageRoutes,
];

/** A front serves pages and texts, and has no route that changes anything. */
export const frontRoutes: readonly Route[] = [
  { pattern: /^\/(s\/.+)$/sy, handlers: { GET: getPage, HEAD: getPage } },
  ...pageRoutes,
];
