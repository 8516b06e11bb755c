// A request as it was received, and what of it is signed: path and query in one reading for the
// signature and for whoever serves the request, so that nothing is served that was not signed.

import { isUtf8 } from 'node:buffer';
import { S3Error } from '../s3-error.ts';

/** A signed request. Each character of its texts is a byte, as in Node's server. */
export interface SignedRequest {
  readonly method: string;
  /** The request line's path before `?`, as Node returns it. */
  readonly rawPath: string;
  /** Without the `?`. */
  readonly rawQuery: string;
  /** In the order of their coming, names in lower case. */
  readonly headers: readonly Header[];
}

export type Header = readonly [name: string, value: string];

/** The path with its escapes undone, once: nothing is normalised. Throws InvalidURI. */
export function decodePath(rawPath: string): string {
  return decodeEscapes(rawPath);
}

/** Names and values in the order of their coming; `?acl` has an empty value. Throws InvalidURI. */
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

/** As forms write them: a plus is a space. */
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

/** All values of a header, joined as a signature has them; undefined without any. */
export function headerOf({ headers }: Pick<SignedRequest, 'headers'>, name: string) {
  const values = headers.filter(([own]) => own === name).map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(',');
}

/** Decodes UTF-8 in a text with a character for each byte; returns any other text as it is. */
export function utf8Of(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  return bytes.toString('latin1') === text && isUtf8(bytes) ? bytes.toString('utf8') : text;
}
