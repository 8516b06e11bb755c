// A request as received, and its decoding. The signature and the operations use the same decoded
// path and query, so that unsigned text cannot select an object.

import { isUtf8 } from 'node:buffer';
import { S3Error } from '../s3-error.ts';

/** A request whose texts have one character per byte, as in Node's server. */
export interface SignedRequest {
  readonly method: string;
  /** The request line's path before `?`, as Node returns it. */
  readonly rawPath: string;
  /** Without the `?`. */
  readonly rawQuery: string;
  /** In order of arrival; names in lower case. */
  readonly headers: readonly Header[];
}

export type Header = readonly [name: string, value: string];

/** Decodes the percent escapes of a path once, without normalization. Throws InvalidURI. */
export function decodePath(rawPath: string): string {
  return decodeEscapes(rawPath);
}

/** Returns names and values in order; `?acl` has an empty value. Throws InvalidURI. */
export function parseQuery(rawQuery: string): [name: string, value: string][] {
  return rawQuery
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const [name, value] =
        equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
      return [decodeForm(name), decodeForm(value)];
    });
}

/** Decodes the form encoding, in which a plus is a space. */
function decodeForm(text: string): string {
  return decodeEscapes(text.replaceAll('+', ' '));
}

function decodeEscapes(text: string): string {
  try {
    return decodeURIComponent(utf8Of(text));
  } catch {
    throw new S3Error('InvalidURI', 'Percent escapes must be two hexadecimal digits of UTF-8.');
  }
}

/** Returns all values of a header, joined by commas; undefined without any. */
export function headerOf({ headers }: Pick<SignedRequest, 'headers'>, name: string) {
  const values = headers.filter(([own]) => own === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(',');
}

/** Decodes UTF-8 in a text of one character per byte; returns any other text unchanged. */
export function utf8Of(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  return bytes.toString('latin1') === text && isUtf8(bytes) ? bytes.toString('utf8') : text;
}
