// HTTP requests and responses as the gateway protocol carries them, and what every route needs to
// read of them. Knows no route.

import { quote } from '../domain/shared/names.ts';
import type { PublishedFile } from '../domain/shared/publication.ts';
import { Refusal } from '../domain/shared/refusal.ts';

export type Header = readonly [name: string, value: string];

export interface HttpRequest {
  readonly method: string;
  /** Path and query as the client wrote them. */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /**
   * The headers by name, in lower case, where whoever read the request has them: when none comes
   * twice, and no value has space around it.
   */
  readonly fields?: Readonly<Record<string, string>>;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
  /** The response is one that this public file has for everybody who asks like this. */
  readonly publicAnswer?: PublicAnswer | undefined;
  /** Opens the rest of the body to whoever has it, see domain/files/streams.ts. */
  readonly stream?: Uint8Array | undefined;
  /** Nothing is at the URL, for whatever reason. */
  readonly isMissing?: boolean | undefined;
  /**
   * The certified fallback of a site at the URL: its 404 page, or a redirect to a folder.
   */
  readonly siteAnswer?: SiteAnswer | undefined;
}

export interface SiteAnswer extends Pick<HttpResponse, 'status' | 'headers' | 'body'> {
  /** SHA-256 of the body, where it is known. */
  readonly bodyDigest?: Uint8Array;
}

/** Header fields of a file, made once a message: for the answer and for its certification. */
export interface ServedHeaders {
  readonly validators: readonly Header[];
  readonly representation: readonly Header[];
}

export interface PublicAnswer {
  readonly content: AnsweredContent;
  readonly served: ServedHeaders;
  readonly row: PublicRow;
  /** The path of its URL, percent-decoded. */
  readonly address: string;
  /** The leaves at this address are those of version 0.1.0. */
  readonly isFormer: boolean;
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

/** A request for a public file, to the letter. */
export type PublicRow =
  | { readonly row: 'plain'; readonly method: 'GET' | 'HEAD' }
  /** `If-None-Match` is just this tag, which is the file's. */
  | { readonly row: 'not-modified'; readonly method: 'GET' | 'HEAD'; readonly tag: string }
  /** GET with `Range: bytes=N-`, N being where the part of that index starts. */
  | { readonly row: 'part'; readonly index: number };

/** Field values by lower-case name, of each request whose fields have been asked for. */
const fieldsOf = new WeakMap<readonly Header[], Map<string, string[]>>();

/** Looked through once: a request is asked for some twenty fields. */
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

/** Field values of that name, in order; names compare without case (RFC 9110 §5.1). */
function headerValues({ headers }: HttpRequest, name: string): string[] {
  return (fieldsOf.get(headers) ?? readFields(headers)).get(name) ?? [];
}

/** The field's value, several lines joined as a list (RFC 9110 §5.3); `name` in lower case. */
export function header(request: HttpRequest, name: string): string | undefined {
  if (request.fields !== undefined) return request.fields[name];
  const values = headerValues(request, name);
  return values.length > 1 ? values.join(', ') : values[0];
}

/** The field's value to the letter, if it comes just once. */
export function soleHeader(request: HttpRequest, name: string): string | undefined {
  if (request.fields !== undefined) return request.fields[name];
  const found = request.headers.filter(([candidate]) => candidate.toLowerCase() === name);
  return found.length === 1 ? found[0]?.[1] : undefined;
}

/** For fields that may come once only: two different values are refused. */
export function singleHeader(request: HttpRequest, name: string): string | undefined {
  if (request.fields !== undefined) return request.fields[name];
  const values = [...new Set(headerValues(request, name))];
  if (values.length > 1) {
    throw new Refusal('InvalidArgument', `The header ${name} has several values: send one.`);
  }
  return values[0];
}

/** The path, percent-decoded once; the query is left out. */
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

/** As decodedPath(); a malformed path comes as it was sent, as verifying gateways read it. */
export function readablePath(request: HttpRequest): string {
  const path = encodedPath(request);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function encodedPath({ url }: HttpRequest): string {
  // By texts: by a pattern it is tried at each character.
  const [withoutFragment = ''] = url.split('#', 1);
  return withoutFragment.split('?', 1)[0] ?? '';
}
