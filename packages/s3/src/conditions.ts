// Conditions of requests (RFC 9110 §13) on an existing object.

import { S3Error } from './s3-error.ts';
import type { StoredObject } from './stored-object.ts';

export interface Conditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
  readonly ifUnmodifiedSince: string | undefined;
}

/** `prefix`: for the conditions on the source of a copy. */
export function conditionsOf(
  header: (name: string) => string | undefined,
  prefix = '',
): Conditions {
  return {
    ifMatch: header(`${prefix}if-match`),
    ifNoneMatch: header(`${prefix}if-none-match`),
    ifModifiedSince: header(`${prefix}if-modified-since`),
    ifUnmodifiedSince: header(`${prefix}if-unmodified-since`),
  };
}

/** Checks the conditions in the order of RFC 9110 §13.2.2; throws PreconditionFailed. */
export function checkConditions(
  object: Pick<StoredObject, 'etag' | 'modified'>,
  conditions: Conditions,
): 'met' | 'not modified' {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions;
  if (ifMatch !== undefined) {
    if (!namesEtag(ifMatch, object.etag)) throw failed('If-Match');
  } else if (isAfter(object.modified, ifUnmodifiedSince)) {
    throw failed('If-Unmodified-Since');
  }
  if (ifNoneMatch !== undefined) {
    return namesEtag(ifNoneMatch, object.etag) ? 'not modified' : 'met';
  }
  return isAfter(object.modified, ifModifiedSince) !== false ? 'met' : 'not modified';
}

export function failed(condition: string): S3Error {
  const words = `The object does not match the condition ${condition}.`;
  return new S3Error('PreconditionFailed', words);
}

/** Accepts tags without quotes, which many clients send. */
export function namesEtag(list: string, etag: string): boolean {
  if (list.trim() === '*') return true;
  return list.split(',').some((one) => one.trim().replace(/^W\//, '').replaceAll('"', '') === etag);
}

/** Compares whole seconds, as in dates of HTTP; `undefined` if the date is missing. */
function isAfter(modified: Date, date: string | undefined): boolean | undefined {
  const time = date === undefined ? Number.NaN : Date.parse(date);
  if (Number.isNaN(time)) return undefined;
  return Math.floor(modified.getTime() / 1_000) > Math.floor(time / 1_000);
}
