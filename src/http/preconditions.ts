// Conditional requests of RFC 9110 §13, as pure functions over header text and validators.

import { matchesTag, type WritePreconditions } from '../domain/shared/preconditions.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { type HttpRequest, header } from './message.ts';

export interface Validators {
  /** Strong entity tag with its quotes. */
  readonly etag: string;
  readonly lastModifiedNs: bigint;
}

export interface Conditions {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly ifModifiedSince: string | undefined;
  readonly ifUnmodifiedSince: string | undefined;
  readonly ifRange: string | undefined;
}

export type Verdict = 'proceed' | 'not-modified' | 'failed';

/** Evaluates the conditions of GET and HEAD in the order of RFC 9110 §13.2.2. */
export function evaluateConditions(conditions: Conditions, validators: Validators): Verdict {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions;
  if (ifMatch !== undefined) {
    if (!matchesTag(ifMatch, validators.etag, 'strong')) return 'failed';
  } else if (ifUnmodifiedSince !== undefined) {
    const date = parseHttpDate(ifUnmodifiedSince);
    if (date !== undefined && seconds(validators) > date) return 'failed';
  }
  if (ifNoneMatch !== undefined) {
    return matchesTag(ifNoneMatch, validators.etag, 'weak') ? 'not-modified' : 'proceed';
  }
  const date = ifModifiedSince === undefined ? undefined : parseHttpDate(ifModifiedSince);
  return date !== undefined && seconds(validators) <= date ? 'not-modified' : 'proceed';
}

/** Whether Range counts: If-Range is absent or matches this representation (§13.1.5). */
export function rangeApplies(ifRange: string | undefined, validators: Validators): boolean {
  if (ifRange === undefined) {
    return true;
  }
  const date = parseHttpDate(ifRange);
  return date === undefined ? ifRange === validators.etag : date === seconds(validators);
}

function seconds(validators: Validators): number {
  return Number(validators.lastModifiedNs / 1_000_000_000n);
}

const shortDay = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const longDay = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day';
const month = '(?<month>[A-Z][a-z][a-z])';
const time = '(?<time>\\d\\d:\\d\\d:\\d\\d)';
/** IMF-fixdate and the two obsolete forms, which recipients must accept (RFC 9110 §5.6.7). */
const httpDatePatterns: readonly RegExp[] = [
  new RegExp(`^${shortDay}, (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT$`),
  new RegExp(`^${longDay}, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT$`),
  new RegExp(`^${shortDay} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})$`),
];

/** The length of `Wednesday, 21-Oct-15 07:28:00 GMT` and some reserve. */
const httpDateLengthMax = 40;

/** Reads the conditions of a request that writes. */
export function writePreconditions(request: HttpRequest): WritePreconditions {
  const since = parseHttpDate(header(request, 'if-unmodified-since') ?? '');
  return {
    ifMatch: header(request, 'if-match'),
    ifNoneMatch: header(request, 'if-none-match'),
    unmodifiedSinceNs: since === undefined ? undefined : BigInt(since) * 1_000_000_000n,
  };
}

/** Refuses a partial PUT: storing a part as the whole file would lose the rest (RFC 9110 §14.5). */
export function refusePartialPut(request: HttpRequest): void {
  if (header(request, 'content-range') !== undefined) {
    throw new Refusal(
      'InvalidArgument',
      'A PUT with Content-Range is not supported: send the whole file, or upload it in chunks.',
    );
  }
}

/** Returns the seconds since 1970 of an HTTP-date; `undefined` for a value to ignore. */
function parseHttpDate(text: string): number | undefined {
  if (text === '' || text.length > httpDateLengthMax) {
    return undefined;
  }
  const match = httpDatePatterns.map((pattern) => pattern.exec(text)).find((found) => found);
  if (!match?.groups) {
    return undefined;
  }
  const { day = '', month = '', year = '', time = '' } = match.groups;
  const fixed = `${day.replace(' ', '0')} ${month} ${fullYear(year)} ${time} GMT`;
  const milliseconds = Date.parse(`${text.slice(0, 3)}, ${fixed}`);
  // Date.parse() turns a nonexistent day, such as 31 February, into another one.
  const isReal =
    !Number.isNaN(milliseconds) && new Date(milliseconds).toUTCString().endsWith(fixed);
  return isReal ? milliseconds / 1_000 : undefined;
}

/** Reads two digits as 1970 to 2069, because no file is older than 1970. */
function fullYear(year: string): string {
  return year.length === 4 ? year : `${year < '70' ? '20' : '19'}${year}`;
}

export function formatHttpDate(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toUTCString();
}
