// HTTP requests and responses as the gateway protocol carries them, and what every route needs to
// read of them. Knows no route.

import { quote } from '../domain/names.ts';
import { Refusal } from '../domain/refusal.ts';

export type Header = readonly [name: string, value: string];

export interface HttpRequest {
  readonly method: string;
  /** Path and query as the client wrote them. */
  readonly url: string;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Uint8Array;
}

/** Field values of that name, in order; names compare without case (RFC 9110 §5.1). */
function headerValues(request: HttpRequest, name: string): string[] {
  return request.headers
    .filter(([candidate]) => candidate.length === name.length && candidate.toLowerCase() === name)
    .map(([, value]) => value.trim());
}

/** The field's value, several lines joined as a list (RFC 9110 §5.3); `name` in lower case. */
export function header(request: HttpRequest, name: string): string | undefined {
  const values = headerValues(request, name);
  return values.length === 0 ? undefined : values.join(', ');
}

/** For fields that may come once only: two different values are refused. */
export function singleHeader(request: HttpRequest, name: string): string | undefined {
  const values = [...new Set(headerValues(request, name))];
  if (values.length > 1) {
    throw new Refusal('InvalidArgument', `The header ${name} came with several values: send one.`);
  }
  return values[0];
}

/** The path, percent-decoded once; the query is left out. */
export function decodedPath(request: HttpRequest): string {
  const [path = ''] = request.url.split(/[?#]/, 1);
  try {
    return decodeURIComponent(path);
  } catch {
    throw new Refusal(
      'InvalidPath',
      `The URL path ${quote(path)} has a malformed percent-encoding: encode UTF-8 as %XX.`,
    );
  }
}
