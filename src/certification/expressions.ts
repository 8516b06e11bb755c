// Certificate expressions: the certified fields of a request and its response, in the language of
// the HTTP gateway specification ("Certificate expression"), as constant texts without white space.
// Their hashes are labels of the tree.

import { sha256 } from '../crypto/hash.ts';
import { encodeUtf8 } from '../lib/text.ts';

const allHeaders =
  'response_certification:ResponseCertification{' +
  'response_header_exclusions:ResponseHeaderList{headers:[]}}';

function certification(request: string): string {
  return `default_certification(ValidationArgs{certification:Certification{${request},${allHeaders}}})`;
}

/** Certifies method, these request headers, status, all response headers and body. */
function fullCertification(requestHeaders: string, parameters = ''): string {
  return certification(
    `request_certification:RequestCertification{certified_request_headers:[${requestHeaders}],` +
      `certified_query_parameters:[${parameters}]}`,
  );
}

/** Also certifies the parameter, or its absence. */
const ofPictured = (requestHeaders: string) => fullCertification(requestHeaders, '"thumbnail"');

export const expressions = {
  plain: fullCertification(''),
  ifNoneMatch: fullCertification('"if-none-match"'),
  range: fullCertification('"range"'),
  // The same for a file with a thumbnail, so that neither can be shown in place of the other
  picturedPlain: ofPictured(''),
  picturedIfNoneMatch: ofPictured('"if-none-match"'),
  picturedRange: ofPictured('"range"'),
  /** Certifies only the response, to any request. */
  anyRequest: certification('no_request_certification:Empty{}'),
  /** Certifies nothing: any node can answer paths under it. */
  none: 'default_certification(ValidationArgs{no_certification:Empty{}})',
} as const;

export type ExpressionName = keyof typeof expressions;

export const expressionField = 'IC-CertificateExpression';

const hashes = new Map<ExpressionName, Uint8Array>();

/** Returns the label of the expression's part of the tree. */
export function expressionHash(name: ExpressionName): Uint8Array {
  return hashes.get(name) ?? sha256(encodeUtf8(expressions[name]));
}

/** Computes the hashes once for all later messages, because queries discard computed values. */
export function rememberExpressions(): void {
  for (const name of Object.keys(expressions) as ExpressionName[]) {
    hashes.set(name, expressionHash(name));
  }
}
