// A request as operations see it: where it goes, its query and its header fields, decoded.

import { type Address, addressOf } from './address.ts';
import { S3Error } from './s3-error.ts';
import { parseQuery, type SignedRequest, utf8Of } from './signature/signed-request.ts';

export interface S3Request extends Address {
  readonly method: string;
  readonly query: ReadonlyMap<string, string>;
  /** By the name in lower case; several of one name are joined by commas. */
  header(name: string): string | undefined;
  /** All whose names begin so, which is taken away. */
  headersBehind(prefix: string): readonly (readonly [name: string, value: string])[];
}

/** Throws InvalidURI, InvalidBucketName, InvalidArgument for a name that the query has twice. */
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
