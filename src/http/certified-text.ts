// GET and HEAD of texts that are certified like a file of one part without being files: texts at
// /.well-known/ and pages of the console.

import { Refusal } from '../domain/shared/refusal.ts';
import { emptyBytes } from '../lib/bytes.ts';
import { encodeHex } from '../lib/hex.ts';
import {
  type Header,
  type HttpResponse,
  header,
  type PublicAnswer,
  type PublicRow,
  soleHeader,
} from './message.ts';
import { evaluateConditions } from './preconditions.ts';
import type { Exchange } from './router.ts';

export interface CertifiedText {
  readonly address: string;
  /** In bytes. */
  readonly size: number;
  /** SHA-256 of the bytes. */
  readonly digest: Uint8Array;
  /** Fields besides the entity tag. */
  readonly validators: readonly Header[];
  readonly representation: readonly Header[];
}

function etagOf({ digest }: CertifiedText): string {
  return `"${encodeHex(digest)}"`;
}

/** Describes the text as a file of one part. */
export function answerOfText(text: CertifiedText): Omit<PublicAnswer, 'row'> {
  const { address, size, digest, representation } = text;
  const chunkCount = size === 0 ? 0 : 1;
  return {
    content: { size, chunkSize: size, chunkCount, digest, contentId: 0 },
    served: { validators: [['ETag', etagOf(text)], ...text.validators], representation },
    address,
    isFormer: false,
  };
}

/** `lastModifiedNs`: `undefined` if only the tag shows whether the text has changed. */
export function serveText(
  { request }: Pick<Exchange, 'request'>,
  text: CertifiedText,
  content: { readonly body: () => Uint8Array; readonly lastModifiedNs: bigint | undefined },
): HttpResponse {
  const answer = answerOfText(text);
  const etag = etagOf(text);
  const { validators, representation } = answer.served;
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const { lastModifiedNs } = content;
  const hasDate = lastModifiedNs !== undefined;
  const verdict = evaluateConditions(
    {
      ifMatch: header(request, 'if-match'),
      ifNoneMatch: header(request, 'if-none-match'),
      ifModifiedSince: hasDate ? header(request, 'if-modified-since') : undefined,
      ifUnmodifiedSince: hasDate ? header(request, 'if-unmodified-since') : undefined,
      ifRange: undefined,
    },
    { etag, lastModifiedNs: lastModifiedNs ?? 0n },
  );
  if (verdict === 'failed') {
    throw new Refusal(
      'PreconditionFailed',
      'The text does not match the preconditions of the request.',
    );
  }
  const withRow = (row: PublicRow | undefined) => {
    return row === undefined || request.body.length > 0 ? undefined : { ...answer, row };
  };
  if (verdict === 'not-modified') {
    const tag = soleHeader(request, 'if-none-match');
    const isOwn = tag === etag || tag === `W/${etag}`;
    const publicAnswer = withRow(isOwn ? { row: 'not-modified', method, tag } : undefined);
    return { status: 304, headers: validators, body: emptyBytes, publicAnswer };
  }
  const body = method === 'HEAD' ? emptyBytes : content.body();
  const headers = [...validators, ...representation];
  if (method === 'HEAD') headers.push(['Content-Length', String(text.size)]);
  return { status: 200, headers, body, publicAnswer: withRow({ row: 'plain', method }) };
}
