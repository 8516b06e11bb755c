// A request in decoded form: its target, query and header fields.

import { type Address, addressOf } from './address.ts';
import { S3Error } from './s3-error.ts';
import { parseQuery, type SignedRequest, utf8Of } from './signature/signed-request.ts';

export interface S3Request extends Address {
  readonly method: string;
  readonly query: ReadonlyMap<string, string>;
  /** Takes a lower-case name; joins several fields by commas. */
  header(name: string): string | undefined;
  /** Returns all fields whose names begin with the prefix, without the prefix. */
  headersBehind(prefix: string): readonly (readonly [name: string, value: string])[];
}

/** Throws InvalidURI, InvalidBucketName, and InvalidArgument for a repeated query parameter. */
export function readRequest(raw: SignedRequest, domain: string | undefined): S3Request {
  const headers = new Map<string, string>();
  for (const [name, value] of raw.headers) {
    const former = headers.get(name);
    const text = utf8Of(value);
    headers.set(name, former === undefined ? text : `${former}, ${text}`);
  }
  const address = addressOf({ rawPath: raw.rawPath, host: headers.get('host'), domain });
  return {
    ...address,
    method: raw.method,
    query: queryOf(raw.rawQuery),
    header: (name) => headers.get(name),
    headersBehind: (prefix) =>
      [...headers]
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, value]) => [name.slice(prefix.length), value] as const),
  };
}

function queryOf(rawQuery: string): ReadonlyMap<string, string> {
  const query = new Map<string, string>();
  for (const [name, value] of parseQuery(rawQuery)) {
    if (query.has(name)) {
      throw new S3Error(
        'InvalidArgument',
        `The query has the parameter ${JSON.stringify(name)} twice.`,
      );
    }
    query.set(name, value);
  }
  return query;
}
