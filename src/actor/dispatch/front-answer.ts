// The answer of a front: one of its pages, a redirect to a public bucket or the 404, all certified
// in advance. It does not depend on the caller and never needs an update.

import { rowHeaders, rowStatus } from '../../certification/certified-file.ts';
import { expressions } from '../../certification/expressions.ts';
import type { FixedRow } from '../../certification/fixed-answers.ts';
import { addressText } from '../../certification/site-paths.ts';
import { Refusal, valueOrRefusal } from '../../domain/shared/refusal.ts';
import { bucketRedirectAt } from '../../http/bucket-redirects.ts';
import { answerOfText, serveText } from '../../http/certified-text.ts';
import type { HttpRequest } from '../../http/message.ts';
import type { Page } from '../../http/page.ts';
import { findPage } from '../../http/pages.ts';
import { preflightResponse } from '../../http/preflight.ts';
import { errorResponse } from '../../http/router.ts';
import { emptyBytes } from '../../lib/bytes.ts';
import { singleSlashes } from '../../lib/url-paths.ts';
import type { EncodableResponse } from '../messages/bulk-messages.ts';
import { currentCall } from '../runtime/call.ts';
import { certifiedFileOf } from '../runtime/publication.ts';
import { stores } from '../runtime/runtime.ts';
import {
  evidenceOf,
  type Proven,
  provablePath,
  provenFixed,
  provenRedirect,
  withCertificate,
  withExpression,
} from './certified-answer.ts';

/** `certificate`: as the System API returns it in a query; an update needs none. */
export function frontAnswer(
  request: HttpRequest,
  certificate: Uint8Array | undefined,
): EncodableResponse {
  const urlPath = provablePath(request);
  const path = singleSlashes(urlPath);
  const page = findPage(stores, path);
  const isPreflight = request.method === 'OPTIONS' && request.body.length === 0;
  if (page !== undefined && !isPreflight && request.method !== 'GET' && request.method !== 'HEAD') {
    const words = 'The method is not allowed here: use GET, HEAD, OPTIONS.';
    const refusal = new Refusal('MethodNotAllowed', words, { allow: 'GET, HEAD, OPTIONS' });
    return errorResponse(refusal, { call: currentCall(), request });
  }
  const row = isPreflight ? 'preflight' : 'not-found';
  const proven =
    page === undefined
      ? provenElsewhere(urlPath, path, row)
      : provenPage(page, isPreflight ? undefined : request);
  return certificate === undefined ? proven : withCertificate(proven, certificate);
}

/** Returns the redirect to a public bucket, or the 404. */
function provenElsewhere(urlPath: string, path: string, row: FixedRow): Proven {
  const answer = bucketRedirectAt(stores, path);
  if (answer !== undefined) return provenRedirect(row, { urlPath, answer });
  return provenFixed({ kind: 'fixed', urlPath, row, page: undefined });
}

/** Without a request, returns the answer to OPTIONS. */
function provenPage(page: Page, request: HttpRequest | undefined): Proven {
  const { content, served } = answerOfText(page.text);
  const file = certifiedFileOf(content, served, () => content.digest);
  const place = { path: addressText(page.address), isFormer: false };
  if (request === undefined) {
    const evidence = evidenceOf(place, file, { row: 'preflight' });
    return { ...withExpression(preflightResponse, expressions.plain), evidence };
  }
  const { body, row } = shown(page, request);
  const evidence = evidenceOf(place, file, row);
  return { status: rowStatus(file, row), headers: rowHeaders(file, row), body, evidence };
}

/**
 * Returns the whole page if nothing is certified for the request's range or conditions: a server
 * may ignore Range (RFC 9110 §14.2), and a page is better than a refusal.
 */
function shown({ text, body, lastModifiedNs }: Page, request: HttpRequest) {
  const content = { body, lastModifiedNs };
  const served = valueOrRefusal(() => serveText({ request }, text, content));
  const row = served instanceof Refusal ? undefined : served.publicAnswer?.row;
  if (!(served instanceof Refusal) && row !== undefined) return { body: served.body, row };
  const method = request.method === 'HEAD' ? ('HEAD' as const) : ('GET' as const);
  const plain = { row: 'plain', method } as const;
  return { body: method === 'HEAD' ? emptyBytes : body(), row: plain };
}
