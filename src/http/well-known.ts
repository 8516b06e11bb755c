// GET and HEAD of `/.well-known/{name}`, for everybody, certified.

import { findWellKnown } from '../domain/administration/well-known.ts';
import type { PublishedText } from '../domain/shared/publication.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { encodeHex } from '../lib/hex.ts';
import {
  type HttpResponse,
  header,
  type PublicAnswer,
  type PublicRow,
  type ServedHeaders,
  soleHeader,
} from './message.ts';
import { evaluateConditions, formatHttpDate } from './preconditions.ts';
import type { Exchange } from './router.ts';

/** That scripts of other origins may read it does not wait for a gateway. */
function textHeaders(text: PublishedText): ServedHeaders {
  return {
    validators: [
      ['ETag', etagOf(text)],
      ['Last-Modified', formatHttpDate(text.updatedAtNs)],
      ['Cache-Control', 'public, max-age=300'],
    ],
    representation: [
      ['Content-Type', text.contentType],
      ['X-Content-Type-Options', 'nosniff'],
      ['Content-Security-Policy', 'sandbox'],
      ['Access-Control-Allow-Origin', '*'],
    ],
  };
}

function etagOf({ digest }: PublishedText): string {
  return `"${encodeHex(digest)}"`;
}

/** As a file of one part, of no content that is stored as such. */
export function textAnswer(text: PublishedText): Omit<PublicAnswer, 'row'> {
  const { length: size } = text.body;
  const chunkCount = size === 0 ? 0 : 1;
  return {
    content: { size, chunkSize: size, chunkCount, digest: text.digest, contentId: 0 },
    served: textHeaders(text),
    address: `/.well-known/${text.name}`,
    isFormer: false,
  };
}

export function getWellKnown({ stores, request, captures }: Exchange): HttpResponse {
  const [name = ''] = captures;
  const text = findWellKnown(stores, name);
  if (text === undefined) {
    throw new Refusal('NoSuchFile', 'Nothing is set at this name below /.well-known/.');
  }
  const answer = textAnswer(text);
  const { validators, representation } = answer.served;
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const verdict = evaluateConditions(
    {
      ifMatch: header(request, 'if-match'),
      ifNoneMatch: header(request, 'if-none-match'),
      ifModifiedSince: header(request, 'if-modified-since'),
      ifUnmodifiedSince: header(request, 'if-unmodified-since'),
      ifRange: undefined,
    },
    { etag: etagOf(text), lastModifiedNs: text.updatedAtNs },
  );
  if (verdict === 'failed') {
    throw new Refusal('PreconditionFailed', 'The text is not in the state that the request names.');
  }
  const withRow = (row: PublicRow | undefined) => {
    return row === undefined || request.body.length > 0 ? undefined : { ...answer, row };
  };
  if (verdict === 'not-modified') {
    const tag = soleHeader(request, 'if-none-match');
    const isOwn = tag === etagOf(text) || tag === `W/${etagOf(text)}`;
    const publicAnswer = withRow(isOwn ? { row: 'not-modified', method, tag } : undefined);
    return { status: 304, headers: validators, body: emptyBytes, publicAnswer };
  }
  const body = method === 'HEAD' ? emptyBytes : text.body;
  const headers = [...validators, ...representation];
  if (method === 'HEAD') headers.push(['Content-Length', String(text.body.length)]);
  return { status: 200, headers, body, publicAnswer: withRow({ row: 'plain', method }) };
}
