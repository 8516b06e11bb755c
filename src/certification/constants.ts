// What most files have in common: hashed at install and upgrade, and kept, since queries forget
// what they have worked out.

import { rememberPlainLabels } from './certified-file.ts';
import { rememberExpressions } from './expressions.ts';
import { type Field, remember, rememberStatus } from './representation-hash.ts';

/** What most files have in common; names alone have an empty value. */
const commonFields: readonly Field[] = [
  [':ic-cert-method', 'GET'],
  [':ic-cert-method', 'HEAD'],
  [':ic-cert-method', 'OPTIONS'],
  ['accept-ranges', 'bytes'],
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'public, max-age=3600'],
  ['content-security-policy', 'sandbox'],
  ['range', 'bytes=0-'],
  ['content-type', ''],
  ['etag', ''],
  ['last-modified', ''],
  ['content-length', ''],
  ['content-range', ''],
  ['if-none-match', ''],
];

/** Keeps the hashes of what most files have in common, for all later messages. */
export function rememberConstants(): void {
  rememberExpressions();
  remember(commonFields);
  for (const status of [200, 206, 304]) rememberStatus(status);
  rememberPlainLabels();
}
