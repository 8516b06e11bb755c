// The CORS configuration of a bucket. The server has one for all buckets, which only the person who
// starts it can change: whoever has an access key could otherwise let any page use the server.

import { type Answer, xmlAnswer } from '../answer.ts';
import { corsMaxAgeSeconds, corsMethods } from '../cors.ts';
import type { Operation, Route } from '../operation.ts';
import { S3Error } from '../s3-error.ts';
import { writeXml } from '../xml/write.ts';
import { requireBucket } from './common.ts';

export const corsRoutes: Readonly<Record<string, Route>> = {
  'GET bucket?cors': { run: getCors },
  'PUT bucket?cors': { run: putCors, isChange: true },
  'DELETE bucket?cors': { run: deleteCors, isChange: true },
};

async function getCors(operation: Operation): Promise<Answer> {
  await requireBucket(operation);
  const { corsOrigins } = operation;
  if (corsOrigins.length === 0) {
    throw new S3Error(
      'NoSuchCORSConfiguration',
      'The server allows no pages of other origins: start it with efs serve s3 --cors-origin.',
    );
  }
  const rule = {
    AllowedOrigin: corsOrigins,
    AllowedMethod: corsMethods,
    AllowedHeader: '*',
    ExposeHeader: ['ETag', 'x-amz-request-id', 'x-amz-version-id'],
    MaxAgeSeconds: corsMaxAgeSeconds,
  };
  return xmlAnswer(writeXml('CORSConfiguration', { CORSRule: rule }));
}

async function putCors(operation: Operation): Promise<Answer> {
  await requireBucket(operation);
  throw new S3Error(
    'NotImplemented',
    'Buckets have no CORS rules of their own: name the origins for all buckets when you start the ' +
      'server, by efs serve s3 --cors-origin.',
  );
}

/** Succeeds without rules, as S3 does for an absent configuration. */
async function deleteCors(operation: Operation): Promise<Answer> {
  await requireBucket(operation);
  if (operation.corsOrigins.length === 0) return { status: 204 };
  throw new S3Error(
    'AccessDenied',
    'Only the person who starts the server can remove its CORS rules: start efs serve s3 without ' +
      '--cors-origin.',
  );
}
