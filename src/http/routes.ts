// The routes of the service. Groups of routes are defined in the files of their handlers.

import { linkPattern } from './budgets.ts';
import { copyRoutes } from './copies.ts';
import { getEndToEnd } from './end-to-end.ts';
import { postDeletion, postFiles } from './file-batches.ts';
import { getFileList } from './file-list.ts';
import { postRead } from './file-reads.ts';
import { switchRoutes } from './file-switch.ts';
import { putFile } from './file-upload.ts';
import { deleteFileRecord, getFileRecord, headFileRecord, patchFileRecord } from './files.ts';
import { getBucketJournal } from './journal.ts';
import { getLinkedFile, headLinkedFile, postUnlocking } from './linked-files.ts';
import { linkRoutes } from './links.ts';
import { getMetrics } from './metrics.ts';
import { getPage } from './pages.ts';
import { retentionRoutes } from './retention.ts';
import { headOf, type Route } from './router.ts';
import { getBucketRules } from './rules.ts';
import { getCloudPath, headCloudPath } from './site-answers.ts';
import { getStatus } from './status.ts';
import { thumbnailRoutes } from './thumbnails.ts';
import { tusRoutes } from './tus.ts';
import { uploadLinkRoutes } from './upload-links.ts';
import { uploadRoutes } from './upload-sessions.ts';
import { getBucketUsage } from './usage.ts';
import { versionRoutes } from './versions.ts';

export const routes: readonly Route[] = [
  // First, because most updates are writes of files, and each pattern that is tried costs
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/files\/(.*)$/sy,
    handlers: {
      GET: getFileRecord,
      HEAD: headFileRecord,
      PUT: putFile,
      DELETE: deleteFileRecord,
      PATCH: patchFileRecord,
    },
    uploadMethods: ['PUT'],
  },
  { pattern: /^\/api\/v1\/status$/y, handlers: { GET: getStatus, HEAD: headOf(getStatus) } },
  {
    pattern: linkPattern,
    handlers: { GET: getLinkedFile, HEAD: headLinkedFile, POST: postUnlocking },
  },
  { pattern: /^\/cloud\/([^/]*)\/(.*)$/sy, handlers: { GET: getCloudPath, HEAD: headCloudPath } },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/files$/y,
    handlers: { GET: getFileList, HEAD: headOf(getFileList), POST: postFiles },
    isList: true,
    uploadMethods: ['POST'],
  },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/delete$/y, handlers: { POST: postDeletion } },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/read$/y, handlers: { POST: postRead } },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/usage$/y,
    handlers: { GET: getBucketUsage, HEAD: headOf(getBucketUsage) },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/end-to-end$/y,
    handlers: { GET: getEndToEnd, HEAD: headOf(getEndToEnd) },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/rules$/y,
    handlers: { GET: getBucketRules, HEAD: headOf(getBucketRules) },
  },
  {
    pattern: /^\/api\/v1\/bucket\/([^/]*)\/journal$/y,
    handlers: { GET: getBucketJournal, HEAD: headOf(getBucketJournal) },
  },
  ...copyRoutes,
  ...switchRoutes,
  ...linkRoutes,
  ...uploadRoutes,
  ...tusRoutes,
  ...uploadLinkRoutes,
  ...versionRoutes,
  ...retentionRoutes,
  ...thumbnailRoutes,
  {
    pattern: /^\/metrics$/y,
    handlers: { GET: getMetrics, HEAD: headOf(getMetrics) },
    isList: true,
  },
  { pattern: /^(\/\.well-known\/.*)$/sy, handlers: { GET: getPage, HEAD: getPage } },
  { pattern: /^(\/(?:assets\/)?[^/]*)$/y, handlers: { GET: getPage, HEAD: getPage } },
];
