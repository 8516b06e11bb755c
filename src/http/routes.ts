// The routes of the service, one row each.

import { getCloudFile, headCloudFile } from './cloud.ts';
import { putFile } from './file-upload.ts';
import type { Route } from './router.ts';

export const routes: readonly Route[] = [
  { pattern: /^\/cloud\/([^/]*)\/(.*)$/s, handlers: { GET: getCloudFile, HEAD: headCloudFile } },
  { pattern: /^\/api\/v1\/bucket\/([^/]*)\/files\/(.*)$/s, handlers: { PUT: putFile } },
];
