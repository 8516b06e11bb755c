// Many files in one request: POST of a form to `/api/v1/bucket/{bucket}/files`, with one file per
// part, and POST to `/api/v1/bucket/{bucket}/delete`.

import { errorStatuses } from '../../packages/wire/src/error-status.ts';
import { deletedFileCountMax, deletionBytesMax } from '../../packages/wire/src/limits.ts';
import {
  authorizeDeletion,
  checkDeletions,
  type DeletionResult,
  deleteFiles,
} from '../domain/files/file-deletion.ts';
import type { ApiKey } from '../domain/rights/api-keys.ts';
import { authorize } from '../domain/rights/rights.ts';
import { checkFileCount } from '../domain/rights/upload-bounds.ts';
import { quote } from '../domain/shared/names.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import {
  type Batch,
  type BatchFile,
  type BatchResult,
  checkBatch,
  uploadBatch,
} from '../domain/uploads/batch-upload.ts';
import { bucketRoute } from './authorization.ts';
import { sentDigests } from './digest.ts';
import { writtenView } from './file-record.ts';
import { readMetadata } from './file-upload.ts';
import { flagField, jsonBody, textField, textListField } from './json-body.ts';
import { mediaTypeOf } from './media-types.ts';
import type { HttpResponse } from './message.ts';
import { type Part, readParts } from './multipart.ts';
import { writePreconditions } from './preconditions.ts';
import { privateJson, refusalResponse } from './respond.ts';
import { type Answer, type Exchange, requestIdOf, upgrade } from './router.ts';
import { linkedPath } from './upload-links.ts';

export function postFiles(exchange: Exchange): Answer {
  const { stores, call, request } = exchange;
  const route = bucketRoute(exchange);
  if (exchange.isInspected) {
    authorize(stores, call, { ...route, permission: 'upload', place: 'later' });
    checkFileCount(route.apiKey, 1);
    return upgrade;
  }
  const { bounds } = route.apiKey;
  const readFiles = () =>
    bounds?.isLink === true
      ? linkedParts(readParts(request), route.apiKey).map(fileOf)
      : readParts(request).map(fileOf);
  const batch: Batch = { ...route, readFiles };
  if (exchange.phase === 'query') {
    const refused = checkBatch(stores, call, batch);
    return refused === undefined ? upgrade : batchResponse(exchange, refused);
  }
  return batchResponse(exchange, uploadBatch(stores, call, batch));
}

/**
 * Returns the files of a form that was sent to an upload link, named by the link's prefix and the
 * name that they have on the sender's machine. Widgets add fields that are not files.
 */
function linkedParts(parts: readonly Part[], link: ApiKey): Part[] {
  const files = parts.filter(({ fileName = '' }) => fileName !== '');
  if (files.length > 0) {
    return files.map((part) => ({ ...part, name: linkedPath(link, part.fileName ?? '') }));
  }
  throw new Refusal(
    'InvalidArgument',
    'The form has no file: send multipart/form-data in which the part of each file has a filename.',
  );
}

/** A part has the header fields of a PUT. */
function fileOf({ name, fields, bytes }: Part): BatchFile {
  const request = { method: 'PUT', url: '', headers: [], body: bytes, fields };
  return {
    path: name,
    read: () => ({
      bytes,
      metadata: readMetadata(request, fields['content-type'] ?? mediaTypeOf(name)),
      conditions: writePreconditions(request),
      digests: sentDigests(request),
    }),
  };
}

/** Answers 200 if all were stored, else the error of the first file that was itself refused. */
function batchResponse(exchange: Exchange, results: readonly BatchResult[]): HttpResponse {
  const items = results.map(({ path, stored, refusal }) =>
    stored === undefined
      ? { path, status: errorStatuses[refusal.code], error: errorView(refusal) }
      : { path, status: stored.isNew ? 201 : 200, file: writtenView(stored) },
  );
  const first = results.find(({ refusal }) => refusal && refusal.code !== 'NotStored');
  if (first?.refusal === undefined) {
    return privateJson(200, { items });
  }
  const { code, message } = first.refusal;
  const told = new Refusal(code, `None of the files is stored. ${quote(first.path)}: ${message}`);
  return refusalResponse(told, { requestId: requestIdOf(exchange.call), isHead: false, items });
}

function errorView({ code, message }: Refusal) {
  return { code, message };
}

/** The body has a list of paths and a few fields. */
const deletionBounds = { bytesMax: deletionBytesMax, itemsMax: deletedFileCountMax + 32 };

export function postDeletion(exchange: Exchange): Answer {
  const { stores, call, request } = exchange;
  const route = bucketRoute(exchange);
  if (exchange.isInspected) {
    authorizeDeletion(stores, call, route);
    return upgrade;
  }
  const read = () => {
    const body = jsonBody(request, deletionBounds);
    return {
      paths: textListField(body, 'paths', deletedFileCountMax),
      prefix: textField(body, 'prefix'),
      cursor: textField(body, 'cursor'),
      ifMatch: textField(body, 'ifMatch'),
      bypassesGovernance: flagField(body, 'bypassGovernance'),
    };
  };
  if (exchange.phase === 'query') {
    checkDeletions(stores, call, { ...route, read });
    return upgrade;
  }
  const { results, nextCursor = null } = deleteFiles(stores, call, { ...route, read });
  return privateJson(200, { results: results.map(deletionView), nextCursor });
}

function deletionView({ path, refusal }: DeletionResult) {
  return refusal === undefined ? { path, deleted: true } : { path, error: errorView(refusal) };
}
