// Certified fields of a request and of its response, in the expression language of the HTTP
// gateway specification ("Certificate expression"): constant texts without white space, and their
// hashes, by which the tree is labeled.

import { sha256 } from '../crypto/hash.ts';
import { encodeUtf8 } from '../lib/text.ts';

const allHeaders =
  'response_certification:ResponseCertification{' +
  'response_header_exclusions:ResponseHeaderList{headers:[]}}';

function certification(request: string): string {
  return `default_certification(ValidationArgs{certification:Certification{${request},${allHeaders}}})`;
}

/** Method and these request headers, status, all response headers, body. */
function fullCertification(requestHeaders: string): string {
  return certification(
    `request_certification:RequestCertification{certified_request_headers:[${requestHeaders}],` +
      'certified_query_parameters:[]}',
  );
}

export const expressions = {
  plain: fullCertification(''),
  ifNoneMatch: fullCertification('"if-none-match"'),
  range: fullCertification('"range"'),
  /** The response alone, to whatever request. */
  anyRequest: certification('no_request_certification:Empty{}'),
  /** Nothing: what is under this one is everybody's word. */
  none: 'default_certification(ValidationArgs{no_certification:Empty{}})',
} as const;

export type ExpressionName = keyof typeof expressions;

export const expressionField = 'IC-CertificateExpression';

const hashes = new Map<ExpressionName, Uint8Array>();

/** Labels the expression's part of the tree. */
export function expressionHash(name: ExpressionName): Uint8Array {
  return hashes.get(name) ?? sha256(encodeUtf8(expressions[name]));
}

/** Keeps the hashes for all later messages: queries forget what they have worked out. */
export function rememberExpressions(): void {
  for (const name of Object.keys(expressions) as ExpressionName[]) {
    hashes.set(name, expressionHash(name));
  }
}
