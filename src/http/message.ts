// HTTP requests and responses as in the gateway protocol, and functions that every route needs to
// read them.

import { quote } from '../domain/shared/names.ts';
import type { PublishedFile } from '../domain/shared/publication.ts';
import { Refusal } from '../domain/shared/refusal.ts';
import { firstSegments } from '../lib/url-paths.ts';

export type Header = readonly [name: string, value: string];

export interface HttpRequest {
  readonly method: string;
  /** Path and query as the client sent them. */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /**
   * The headers by lower-case name. Some readers of requests provide them, if no name occurs twice
   * and no value has space around it.
   */
  readonly fields?: Readonly<Record<string, string>>;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /** Present if this response to a public file is the same for every such request. */
  readonly publicAnswer?: PublicAnswer | undefined;
  /** Token for the rest of the body, see domain/files/streams.ts. */
  readonly stream?: Uint8Array | undefined;
  /** True if nothing exists at the URL, whatever the reason. */
  readonly isMissing?: boolean | undefined;
  /** The certified answer of a site to every request at the URL. */
  readonly siteReply?: AnsweredSite | undefined;
}

export interface SiteAnswer extends Pick<HttpResponse, 'status' | 'headers' | 'body'> {
  /** SHA-256 of the body, if known. */
  readonly bodyDigest?: Uint8Array;
}

export interface AnsweredSite {
  readonly answer: SiteAnswer;
  /** Whether it is the answer for all missing paths. */
  readonly isWildcard: boolean;
  /** The shown part of a proof of the answer, if it is stored. */
  readonly proof?: Uint8Array | undefined;
}

/** Header fields of a file, computed once per message for the answer and its certification. */
export interface ServedHeaders {
  readonly validators: readonly Header[];
  readonly representation: readonly Header[];
  /** Present at the own address of a file with a thumbnail. */
  readonly thumbnail?: ServedThumbnail | undefined;
}

export interface ServedThumbnail {
  /** All header fields of its 200, without the length; the first is the ETag. */
  readonly headers: readonly Header[];
  readonly size: number;
  /** Returns the SHA-256 of the picture. */
  digest(): Uint8Array;
}

/** The forms of the parameter with a certified answer. */
export type ThumbnailQuery = 'thumbnail' | 'thumbnail=';

export interface PublicAnswer {
  readonly content: AnsweredContent;
  readonly served: ServedHeaders;
  readonly row: PublicRow;
  /** The path of its URL, percent-decoded. */
  readonly address: string;
  /** Whether the leaves at this address are those of version 0.1.0. */
  readonly isFormer: boolean;
  /** Whether the leaves are those of a site's wildcard that covers the address. */
  readonly isWildcard?: boolean | undefined;
}

export type AnsweredContent = Pick<
  PublishedFile,
  'size' | 'chunkSize' | 'chunkCount' | 'digest'
> & {
  readonly contentId: number;
};

export interface LinkAddress {
  readonly id: string;
  readonly name: string;
}

/** An exact request for a public file. */
export type PublicRow =
  | { readonly row: 'plain'; readonly method: 'GET' | 'HEAD' }
  /** `If-None-Match` is exactly this tag: the file's ETag or its weak form. */
  | { readonly row: 'not-modified'; readonly method: 'GET' | 'HEAD'; readonly tag: string }
  /** GET with `Range: bytes=N-`, where N is the start of the part with that index. */
  | { readonly row: 'part'; readonly index: number }
  | {
      readonly row: 'thumbnail';
      readonly method: 'GET' | 'HEAD';
      readonly query: ThumbnailQuery;
    };

/** Field values by lower-case name, for each request whose fields were read. */
const fieldsOf = new WeakMap<readonly Header[], Map<string, string[]>>();

/** Reads all fields at once, because a request needs about twenty of them. */
function readFields(headers: readonly Header[]): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    const values = fields.get(key);
    if (values === undefined) fields.set(key, [value.trim()]);
    else values.push(value.trim());
  }
  fieldsOf.set(headers, fields);
  return fields;
}

/** Returns the values of the field in order; names are case-insensitive (RFC 9110 §5.1). */
function headerValues({ headers }: HttpRequest, name: string): string[] {
  return (fieldsOf.get(headers) ?? readFields(headers)).get(name) ?? [];
}

/** Returns the field's value, its lines joined (RFC 9110 §5.3); `name`: in lower case. */
export function header(request: HttpRequest, name: string): string | undefined {
  if (request.fields !== undefined) return request.fields[name];
  const values = headerValues(request, name);
  return values.length > 1 ? values.join(', ') : values[0];
}

/** Returns the field's exact value if it occurs once. */
export function soleHeader(request: HttpRequest, name: string): string | undefined {
  if (request.fields !== undefined) return request.fields[name];
  const found = request.headers.filter(([candidate]) => candidate.toLowerCase() === name);
  return found.length === 1 ? found[0]?.[1] : undefined;
}

/** Returns the value of a field that may occur only once; refuses two different values. */
export function singleHeader(request: HttpRequest, name: string): string | undefined {
  if (request.fields !== undefined) return request.fields[name];
  const values = [...new Set(headerValues(request, name))];
  if (values.length > 1) {
    throw new Refusal('InvalidArgument', `The header ${name} has several values: send one.`);
  }
  return values[0];
}

/** Returns the path, percent-decoded once, without the query. */
export function decodedPath(request: HttpRequest): string {
  const path = encodedPath(request);
  try {
    return decodeURIComponent(path);
  } catch {
    throw new Refusal(
      'InvalidPath',
      `The URL path ${quote(path)} has a malformed percent-encoding: encode UTF-8 as %XX.`,
    );
  }
}

/** Like decodedPath(), but leaves malformed percent-encodings as they were sent. */
export function readablePath(request: HttpRequest): string {
  return verifiedPath(request) ?? encodedPath(request);
}

/**
 * Returns the path as verifiers of certified answers read it: they leave malformed
 * percent-encodings as they are. Undefined if the decoded bytes are not UTF-8: verifiers then
 * refuse every answer.
 */
export function verifiedPath(request: HttpRequest): string | undefined {
  const path = encodedPath(request);
  const whole = decodedText(path);
  if (whole !== undefined) return whole;
  let isReadable = true;
  const read = path.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    const decoded = decodedText(escapes);
    if (decoded === undefined) isReadable = false;
    return decoded ?? escapes;
  });
  return isReadable ? read : undefined;
}

function decodedText(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

const pathStartLength = 3_600;

/**
 * Returns the first 3,600 characters of a URL's path, or all of a shorter one. They are at least
 * 1,200 bytes when decoded, more than any stored path has, so nothing exists at or below a cut
 * path.
 */
export function pathStart(url: string): string {
  const single = firstSegments(encodedPath({ url }));
  if (single.length <= pathStartLength) return single;
  const start = single.slice(0, pathStartLength).replace(/%[0-9a-f]?$/i, '');
  // The cut may be inside a character of up to four escapes
  const ends = [0, 3, 6, 9].map((cut) => start.slice(0, start.length - cut));
  return ends.find((end) => decodedText(end) !== undefined) ?? start;
}

function encodedPath({ url }: Pick<HttpRequest, 'url'>): string {
  // Splits by text, because a pattern would be tried at each character.
  const [withoutFragment = ''] = url.split('#', 1);
  return withoutFragment.split('?', 1)[0] ?? '';
}
